import type { Queryable } from '../connection.js'

/** What a maintenance call did with one table. */
export interface Maintained {
  /** The table. */
  readonly what: string
  readonly deleted: number
  /** Tasks past their time that could not be deleted; counted up to 1,000 per state. */
  readonly kept: number
  /** Why not: the database's error for one of them. */
  readonly reason: string | null
}

/**
 * Deletes at most `maxNum` rows that are past their time: ended tasks, old occurrences, orphaned marks, dead leases. Nothing if
 * another call is under way.
 */
export async function maintain(connection: Queryable, maxNum: number): Promise<Maintained[]> {
  const result = await connection.query(
    `select what, deleted::double precision as deleted, kept::double precision as kept, reason
     from tasks.maintain($1::bigint)`,
    [maxNum],
  )
  return result.rows as Maintained[]
}
