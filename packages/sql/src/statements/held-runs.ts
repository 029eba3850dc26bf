import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { Run } from './finish-many.js'
import { idsOf, tokensOf } from './run-arrays.js'

/** Which runs still have their task, as this connection's transaction sees it; returns their tasks' ids. */
export async function heldRuns(connection: Queryable, type: TaskTypeName, runs: readonly Run[]): Promise<string[]> {
  const result = await connection.query(
    `select u.id::text as id
     from unnest($1::bigint[], $2::uuid[]) as u (id, token)
       join lateral (select s.* from ${tableOf(type)} s where s.id = u.id offset 0) t on true
     where t.run_token = u.token and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)`,
    [idsOf(runs), tokensOf(runs)],
  )
  return (result.rows as Array<{ id: string }>).map((row) => row.id)
}
