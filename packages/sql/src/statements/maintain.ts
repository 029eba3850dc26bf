import type { Queryable } from '../connection.js'

/** What a maintenance call deleted. */
export interface Deleted {
  readonly what: string
  readonly deleted: number
}

/** Deletes ended tasks past their `storage_time`, old occurrences and orphaned marks; nothing if another call is under way. */
export async function maintain(connection: Queryable, maxNum: number): Promise<Deleted[]> {
  const result = await connection.query(
    'select what, deleted::double precision as deleted from tasks.maintain($1::bigint)',
    [maxNum],
  )
  return result.rows as Deleted[]
}
