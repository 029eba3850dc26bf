import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { FailureReason } from '../template-row.js'

/** A task that failed for good. */
export interface FailedTask {
  readonly id: string
  readonly failedAt: Date
  readonly reason: FailureReason
  readonly attempts: number
  readonly lastError: string | null
  /** Where a page that ends with this task is continued; exact, which a `Date` isn't. */
  readonly cursor: string
}

export interface FailedTasksOptions {
  /**
   * Most tasks of a page.
   * @defaultValue 100
   */
  readonly limit?: number | undefined
  /**
   * For the next page: `cursor` of the last task.
   * @defaultValue the newest are given
   */
  readonly before?: string | undefined
}

/** Failed tasks, newest first. */
export async function failedTasks(
  connection: Queryable,
  type: TaskTypeName,
  { limit = 100, before }: FailedTasksOptions = {},
): Promise<FailedTask[]> {
  const [beforeAt, beforeId] = before === undefined ? [null, null] : before.split('/')
  const result = await connection.query(
    `select f.id::text as id, f.failed_at as "failedAt", f.failure_reason as reason, f.execution_count as attempts,
       f.last_error as "lastError", to_char(f.failed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || f.id as cursor
     from tasks.failed_tasks($1::regclass, $2::integer, $3::timestamptz, $4::bigint) f`,
    [tableOf(type), limit, beforeAt, beforeId],
  )
  return result.rows as FailedTask[]
}

/** Which failed tasks are reset. */
export interface ResetFailedOptions {
  /** A SQL condition on the table's columns (alias `t`); your own text, never a user's input. @defaultValue all */
  readonly where?: string | undefined
  /**
   * Most tasks, the oldest first.
   * @defaultValue no limit
   */
  readonly maxNum?: number | undefined
  /** Only counts them. @defaultValue false */
  readonly preview?: boolean | undefined
}

/** Resets failed tasks that meet a condition; returns how many. */
export async function resetFailed(
  connection: Queryable,
  type: TaskTypeName,
  options: ResetFailedOptions,
): Promise<number> {
  const result = await connection.query(
    'select tasks.reset_failed($1::regclass, $2::text, $3::bigint, $4::boolean)::double precision as count',
    [tableOf(type), options.where ?? 'true', options.maxNum ?? null, options.preview ?? false],
  )
  return (result.rows[0] as { count: number }).count
}

/** From now on a task that fails for good enqueues one of the target type; null: no more. */
export async function setOnFailure(
  connection: Queryable,
  type: TaskTypeName,
  target: TaskTypeName | null,
): Promise<void> {
  await connection.query('select tasks.set_on_failure($1::text, $2::text, $3::regclass)', [
    type.schema,
    type.table,
    target === null ? null : tableOf(target),
  ])
}
