import { PgTasksSqlError } from '@pg-tasks/sql'
import {
  ChangedMeanwhileError,
  type DatabaseErrorDetails,
  FunctionNameError,
  InvalidSqlArgumentError,
  MigrationError,
  ScheduleNotFoundError,
  TableInUseError,
  TableShapeError,
  TaskInUseError,
  TaskKeptBackError,
  TaskNotFoundError,
  TaskNotRunningError,
  TypeNotRegisteredError,
} from './database-errors.js'
import { PgTasksError } from './pg-tasks-error.js'

type MakeError = (message: string, details: DatabaseErrorDetails) => PgTasksError

/** Our SQLSTATEs; the migrations raise them. */
const BY_SQLSTATE: Readonly<Record<string, MakeError>> = {
  TQ001: (message, details) => new TaskNotRunningError(message, details),
  TQ002: (message, details) => new TaskNotFoundError(message, details),
  TQ003: (message, details) => new InvalidSqlArgumentError(message, details),
  TQ004: (message, details) => new TypeNotRegisteredError(message, details),
  TQ005: (message, details) => new TableShapeError(message, details),
  TQ006: (message, details) => new ChangedMeanwhileError(message, details),
  TQ007: (message, details) => new FunctionNameError(message, details),
  TQ008: (message, details) => new TableInUseError(message, details),
  TQ009: (message, details) => new ScheduleNotFoundError(message, details),
  TQ010: (message, details) => new MigrationError('MIGRATION_APPLIED', message, details),
  TQ011: (message, details) => new TaskKeptBackError(message, details),
  TQ012: (message, details) => new MigrationError('MIGRATION_REFUSED', message, details),
  TQ013: (message, details) => new TaskInUseError(message, details),
}

const NO_RIGHTS = '42501'
const GRANT =
  "The owner of the schema gives rights to a task type: select tasks.grant_to('<role>', '<producer, worker, operator or reader>', '<schema>', '<table>'). Only the owner migrates."

/** The SQLSTATEs of ours that have a class, for the test that compares them with the migrations. */
export const knownSqlStates: readonly string[] = Object.keys(BY_SQLSTATE)

/**
 * Gives an error that our SQL functions raised, or our statements, a class of this package, with the original as `cause`; any
 * other value comes back as it is. Missing rights get a hint, which the database doesn't give.
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
  if (error instanceof PgTasksSqlError) return new PgTasksError(error.code, error.message, { cause: error })
  const raised = error as Record<string, unknown>
  // It may be frozen.
  if (raised.code === NO_RIGHTS && raised.hint === undefined) Reflect.set(raised, 'hint', GRANT)
  const make =
    typeof raised.code === 'string' && Object.hasOwn(BY_SQLSTATE, raised.code) ? BY_SQLSTATE[raised.code] : undefined
  if (make === undefined) return error
  return make(text(raised.message) ?? '', {
    cause: error,
    hint: text(raised.hint),
    sqlState: text(raised.code),
    // postgres.js has names of its own for these two.
    schema: text(raised.schema ?? raised.schema_name),
    table: text(raised.table ?? raised.table_name),
    detail: text(raised.detail),
  })
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
