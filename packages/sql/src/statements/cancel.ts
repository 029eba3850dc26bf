import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'

/** What goes with a cancel. */
export interface CancelOptions {
  readonly comment?: string | undefined
  /** Given by a run that cancels its own task. */
  readonly token?: string | undefined
}

/** Cancels an unfinished task; returns the state in which it was found (an ended one is left as it is). */
export async function cancel(
  connection: Queryable,
  type: TaskTypeName,
  id: string,
  options: CancelOptions,
): Promise<TaskState> {
  const result = await connection.query(
    `select ${verbOf(type, 'cancel')}($1::bigint, null, $2::text, $3::uuid) as state`,
    [id, options.comment ?? null, options.token ?? null],
  )
  return (result.rows[0] as { state: TaskState }).state
}
