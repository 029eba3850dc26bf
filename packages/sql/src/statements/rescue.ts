import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'

/** Brings back the tasks whose lease has ended; returns how many. */
export async function rescue(connection: Queryable, type: TaskTypeName): Promise<number> {
  const result = await connection.query(`select ${verbOf(type, 'rescue')}()::text as count`)
  return Number((result.rows[0] as { count: string }).count)
}
