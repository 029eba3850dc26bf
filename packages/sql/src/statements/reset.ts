import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'

/** What goes with a reset. */
export interface ResetOptions {
  /**
   * Whether the marks of the task's steps are deleted, so that every step is done anew.
   * @defaultValue false: what was done stays done
   */
  readonly forgetMarks?: boolean | undefined
}

/** Makes a task ready as if it had never run, whatever its state; returns the state in which it was found. */
export async function reset(
  connection: Queryable,
  type: TaskTypeName,
  id: string,
  options: ResetOptions = {},
): Promise<TaskState> {
  const result = await connection.query(`select ${verbOf(type, 'reset')}($1::bigint, $2::jsonb) as state`, [
    id,
    options.forgetMarks === true ? '{"forget_marks": true}' : null,
  ])
  return (result.rows[0] as { state: TaskState }).state
}
