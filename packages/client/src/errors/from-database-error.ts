import {
  ChangedMeanwhileError,
  type DatabaseErrorDetails,
  InvalidSqlArgumentError,
  MigrationError,
  TableShapeError,
  TaskNotFoundError,
  TaskNotRunningError,
  TypeNotRegisteredError,
} from './database-errors.js'
import type { PgTasksError } from './pg-tasks-error.js'

type MakeError = (message: string, details: DatabaseErrorDetails) => PgTasksError

/** Our SQLSTATEs; the migrations raise them. */
const BY_SQLSTATE: Readonly<Record<string, MakeError>> = {
  TQ001: (message, details) => new TaskNotRunningError(message, details),
  TQ002: (message, details) => new TaskNotFoundError(message, details),
  TQ003: (message, details) => new InvalidSqlArgumentError(message, details),
  TQ004: (message, details) => new TypeNotRegisteredError(message, details),
  TQ005: (message, details) => new TableShapeError(message, details),
  TQ006: (message, details) => new ChangedMeanwhileError(message, details),
  TQ010: (message, details) => new MigrationError('DATABASE_NEWER', message, details),
  TQ011: (message, details) => new MigrationError('MIGRATION_CHANGED', message, details),
  TQ012: (message, details) => new MigrationError('MIGRATION_FAILED', message, details),
}

/** The SQLSTATEs of ours that have a class, for the test that compares them with the migrations. */
export const knownSqlStates: readonly string[] = Object.keys(BY_SQLSTATE)

/**
 * Gives an error that our SQL functions raised its class, with the driver's error as `cause`; any other value comes back as
 * it is.
 *
 * @example
 * try {
 *   await finish(connection, task)
 * } catch (error) {
 *   throw fromDatabaseError(error)
 * }
 */
export function fromDatabaseError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error
  const raised = error as Record<string, unknown>
  const make =
    typeof raised.code === 'string' && Object.hasOwn(BY_SQLSTATE, raised.code) ? BY_SQLSTATE[raised.code] : undefined
  if (make === undefined) return error
  return make(text(raised.message) ?? '', {
    cause: error,
    hint: text(raised.hint),
    sqlState: text(raised.code),
    schema: text(raised.schema),
    table: text(raised.table),
    detail: text(raised.detail),
  })
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
