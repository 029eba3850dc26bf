import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf, verbOf } from '../task-type-name.js'
import type { Run } from './finish-many.js'
import { idsOf, tokensOf } from './run-arrays.js'

/** Gives runs back as if they had not been acquired; returns the ids of those that were still held. */
export async function release(connection: Queryable, type: TaskTypeName, runs: readonly Run[]): Promise<string[]> {
  // In id order, as every statement of ours that locks several rows.
  const result = await connection.query(
    `select r.id::text as id from (
       select u.id, u.token from unnest($1::bigint[], $2::uuid[]) as u (id, token) order by u.id offset 0
     ) r where ${verbOf(type, 'release')}(r.id, r.token)`,
    [idsOf(runs), tokensOf(runs)],
  )
  return (result.rows as Array<{ id: string }>).map((row) => row.id)
}

/**
 * As {@link release}, and waits for no row: those that another transaction holds are left as they are. Returns the ids of those that
 * were given back; the others may be locked, or held no more.
 */
export async function releaseFree(connection: Queryable, type: TaskTypeName, runs: readonly Run[]): Promise<string[]> {
  const result = await connection.query(
    `with free as materialized (
       select t.id from ${tableOf(type)} t where t.id = any($1::bigint[]) order by t.id for no key update skip locked
     )
     select r.id::text as id from (
       select u.id, u.token from unnest($1::bigint[], $2::uuid[]) as u (id, token)
       where u.id in (select f.id from free f) order by u.id offset 0
     ) r where ${verbOf(type, 'release')}(r.id, r.token)`,
    [idsOf(runs), tokensOf(runs)],
  )
  return (result.rows as Array<{ id: string }>).map((row) => row.id)
}
