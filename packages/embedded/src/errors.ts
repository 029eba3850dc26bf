/** Every code an {@link EmbeddedPostgresError} can have, with what it means. */
export const EMBEDDED_ERROR_CODES = {
  EMBEDDED_OPTION_INVALID: 'an option is unknown or has a value that makes no sense',
  EMBEDDED_PLATFORM_UNSUPPORTED: 'there are no PostgreSQL binaries for this platform, or npm left them out',
  EMBEDDED_DIRECTORY_UNREACHABLE: 'no user that may run PostgreSQL can enter the directory',
  EMBEDDED_DIRECTORY_FOREIGN:
    'the directory holds a cluster that this user may not run, or one that start() did not make',
  EMBEDDED_VERSION_MISMATCH: 'the cluster belongs to another major version than the binaries',
  EMBEDDED_PORT_TAKEN: 'the requested port is in use',
  EMBEDDED_INIT_FAILED: 'initdb failed',
  EMBEDDED_START_FAILED: 'the server ended while starting',
  EMBEDDED_START_TIMEOUT: 'the server did not accept connections in time',
  EMBEDDED_STOP_FAILED: 'the server did not stop in time',
} as const

/** The stable identifier of a failure: compare this, not the message. */
export type EmbeddedErrorCode = keyof typeof EMBEDDED_ERROR_CODES

/** Thrown by everything in this package; the message says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedErrorCode

  constructor(code: EmbeddedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
