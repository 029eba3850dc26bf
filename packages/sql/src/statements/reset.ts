import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'

/** Makes a task ready as if it had never run, whatever its state; returns the state in which it was found. */
export async function reset(connection: Queryable, type: TaskTypeName, id: string): Promise<TaskState> {
  const result = await connection.query(`select ${verbOf(type, 'reset')}($1::bigint) as state`, [id])
  return (result.rows[0] as { state: TaskState }).state
}
