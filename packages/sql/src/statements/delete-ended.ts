import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'

/** Deletes these tasks, those of them that have ended and that nobody holds; returns how many. */
export async function deleteEnded(connection: Queryable, type: TaskTypeName, ids: readonly string[]): Promise<number> {
  const table = tableOf(type)
  // In id order, as every statement of ours that locks several rows.
  const { rows } = await connection.query(
    `with chosen as materialized (
       select t.id from ${table} t
       where t.id = any ($1::bigint[]) and (t.finished_at is not null or t.failed_at is not null or t.canceled)
       order by t.id for update skip locked
     ), deleted as (
       delete from ${table} t using chosen c where t.id = c.id returning 1
     )
     select count(*)::integer as count from deleted`,
    [ids],
  )
  return (rows[0] as { count: number }).count
}
