import { Console } from 'node:console'
import { inspect } from 'node:util'
import type { LogFields, Logger, LogLevel } from './logger.js'

/** Whether log lines go to a console of Node's, the global one or another. */
export function isConsole(logger: Logger): boolean {
  return logger instanceof Console
}

/**
 * Writes a log line to a console as people read it: the message, the fields behind it on the same line, an error below. By itself
 * a console would spread the fields over many lines, and put the message last.
 */
export function writeToConsole(console: Logger, level: LogLevel, fields: LogFields, message: string): void {
  const { error, ...rest } = fields
  const named = Object.entries(rest).filter(([, value]) => value !== undefined)
  const line = [message, ...named.map(([name, value]) => `${name}=${printed(value)}`)].join(' ')
  const below = error === undefined ? '' : `\n${typeof error === 'string' ? error : inspect(error)}`
  // The whole as one argument of a format, so that a percent sign in it is none of the format's.
  console[level]('%s' as never, `${line}${below.replaceAll('\n', '\n  ')}`)
}

function printed(value: unknown): string {
  return typeof value === 'string' && /^[^\s'"=]+$/.test(value) ? value : inspect(value, { breakLength: Infinity })
}
