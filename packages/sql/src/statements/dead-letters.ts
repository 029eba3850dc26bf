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
}

/** Failed tasks, newest first. */
export async function failedTasks(
  connection: Queryable,
  type: TaskTypeName,
  options: { readonly limit?: number | undefined; readonly before?: Date | undefined },
): Promise<FailedTask[]> {
  const result = await connection.query(
    `select id::text as id, failed_at as "failedAt", failure_reason as reason, execution_count as attempts, last_error as "lastError"
     from tasks.failed_tasks($1::regclass, $2::integer, $3::timestamptz)`,
    [tableOf(type), options.limit ?? 100, options.before ?? null],
  )
  return result.rows as FailedTask[]
}

/** Which failed tasks are reset. */
export interface ResetFailedOptions {
  /** A SQL condition on the table's columns (alias `t`); your own text, never a user's input. @defaultValue all */
  readonly where?: string | undefined
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
