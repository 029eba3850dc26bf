import { PgTasksError, type PgTasksErrorDetails } from './pg-tasks-error.js'

/** What the database told with an error of ours. */
export interface DatabaseErrorDetails extends PgTasksErrorDetails {
  readonly sqlState?: string | undefined
  readonly schema?: string | undefined
  readonly table?: string | undefined
  readonly detail?: string | undefined
}

/** The base of the errors that the SQL functions raise (SQLSTATE `TQ…`); `schema` and `table` name the task type if known. */
export abstract class DatabaseRaisedError extends PgTasksError {
  declare readonly sqlState: string | undefined
  declare readonly schema: string | undefined
  declare readonly table: string | undefined
  declare readonly detail: string | undefined

  constructor(code: PgTasksError['code'], message: string, details: DatabaseErrorDetails = {}) {
    super(code, message, details)
    if (details.sqlState !== undefined) this.sqlState = details.sqlState
    if (details.schema !== undefined) this.schema = details.schema
    if (details.table !== undefined) this.table = details.table
    if (details.detail !== undefined) this.detail = details.detail
  }
}

/**
 * The run that acts is not the task's run any more: it was taken over, reset, canceled, released or has already ended.
 *
 * The transaction that acted must roll back, so that its work is not done twice (SQLSTATE TQ001).
 */
export class TaskNotRunningError extends DatabaseRaisedError {
  override readonly name = 'TaskNotRunningError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('TASK_NOT_RUNNING', message, details)
  }
}

/** No task has this id: a wrong id, or the task was cleaned (SQLSTATE TQ002). */
export class TaskNotFoundError extends DatabaseRaisedError {
  override readonly name = 'TaskNotFoundError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('TASK_NOT_FOUND', message, details)
  }
}

/** A SQL function refused an argument (SQLSTATE TQ003). */
export class InvalidSqlArgumentError extends DatabaseRaisedError {
  override readonly name = 'InvalidSqlArgumentError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('INVALID_SQL_ARGUMENT', message, details)
  }
}

/** The table is not a registered task type, or isn't any more: `select tasks.register(…)` (SQLSTATE TQ004). */
export class TypeNotRegisteredError extends DatabaseRaisedError {
  override readonly name = 'TypeNotRegisteredError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('TYPE_NOT_REGISTERED', message, details)
  }
}

/** The table can't be a task type as it is: a column is missing, or has another type (SQLSTATE TQ005). */
export class TableShapeError extends DatabaseRaisedError {
  override readonly name = 'TableShapeError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('TABLE_SHAPE', message, details)
  }
}

/** The task changed its state while the call waited for it; look again and decide anew (SQLSTATE TQ006). */
export class ChangedMeanwhileError extends DatabaseRaisedError {
  override readonly name = 'ChangedMeanwhileError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('CHANGED_MEANWHILE', message, details)
  }
}

/** The name of a SQL function is too long, or belongs to another type: give `function_name` at register (SQLSTATE TQ007). */
export class FunctionNameError extends DatabaseRaisedError {
  override readonly name = 'FunctionNameError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('FUNCTION_NAME_TAKEN', message, details)
  }
}

/**
 * Another transaction holds the task, so that the mark of a step can't be written: mostly the handler's own, which has finished
 * the task and not committed yet. Do the step in that transaction, `once(connection, step, work)`, or earlier (SQLSTATE TQ013).
 */
export class TaskInUseError extends DatabaseRaisedError {
  override readonly name = 'TaskInUseError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('TASK_IN_USE', message, details)
  }
}

/** No schedule has this key (SQLSTATE TQ009). */
export class ScheduleNotFoundError extends DatabaseRaisedError {
  override readonly name = 'ScheduleNotFoundError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('SCHEDULE_NOT_FOUND', message, details)
  }
}

/** The table couldn't be locked for a change within a second; nothing was changed, so call again (SQLSTATE TQ008). */
export class TableInUseError extends DatabaseRaisedError {
  override readonly name = 'TableInUseError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('TABLE_IN_USE', message, details)
  }
}

/**
 * A trigger of the user's or row level security kept the task's row from being written, so the outcome was not stored: look
 * for a BEFORE trigger that returns NULL or OLD, and at the table's policies (SQLSTATE TQ011).
 */
export class TaskKeptBackError extends DatabaseRaisedError {
  override readonly name = 'TaskKeptBackError'

  constructor(message: string, details?: DatabaseErrorDetails) {
    super('TASK_KEPT_BACK', message, details)
  }
}

/** A migration refuses to run: it is applied already, or what it builds on is missing (SQLSTATE TQ010, TQ012). */
export class MigrationError extends DatabaseRaisedError {
  override readonly name = 'MigrationError'

  constructor(code: 'MIGRATION_APPLIED' | 'MIGRATION_REFUSED', message: string, details?: DatabaseErrorDetails) {
    super(code, message, details)
  }
}
