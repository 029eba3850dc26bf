/** Every code that an error of this package can carry, with what it means. A code never changes its meaning. */
export const SQL_ERROR_CODES = {
  INVALID_ARGUMENT: 'an argument cannot be used; nothing was sent to the database',
  DATABASE_NEWER: 'the database has a migration that this version does not know and that shuts it out',
  MIGRATION_CHANGED: 'a migration that the database has applied differs from the file of that number',
  MIGRATION_FAILED: 'a migration could not be applied; the database is as it was before that migration',
} as const

/** The stable identifier of a failure: compare this, not the message. */
export type SqlErrorCode = keyof typeof SQL_ERROR_CODES

/** The base of every error that this package throws; errors of the driver pass through as they are. */
export class PgTasksSqlError extends Error {
  override readonly name: string = 'PgTasksSqlError'
  readonly code: SqlErrorCode

  constructor(code: SqlErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
