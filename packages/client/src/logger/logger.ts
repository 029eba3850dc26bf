/** What a log line says besides its message. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Where log lines go: fields first, then the message, as pino takes them; a pino logger fits as it is.
 *
 * @example
 * const logger: Logger = pino({ level: 'info' })
 */
export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

/** The logger that a handler is given: fields first, as pino takes them, or a message alone. */
export interface TaskLogger {
  debug(message: string): void
  debug(fields: LogFields, message: string): void
  info(message: string): void
  info(fields: LogFields, message: string): void
  warn(message: string): void
  warn(fields: LogFields, message: string): void
  error(message: string): void
  error(fields: LogFields, message: string): void
}

export type LogLevel = keyof Logger

export const logLevels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]
