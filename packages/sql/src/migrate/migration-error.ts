import { PgTasksSqlError } from '../errors.js'

/** The database and the migrations of this version don't fit, or one of them could not be applied. */
export class MigrationError extends PgTasksSqlError {
  override readonly name = 'MigrationError'
  /** The migration at fault, as its file is named, without the ending. */
  readonly migration: string

  constructor(
    code: 'DATABASE_NEWER' | 'MIGRATION_CHANGED' | 'MIGRATION_FAILED',
    migration: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.migration = migration
  }
}
