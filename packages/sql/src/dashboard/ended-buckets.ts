import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'

/** Spans of equal length, one after the other. */
export interface Buckets {
  /** Start of the first one, in milliseconds since 1970. */
  readonly fromMs: number
  readonly stepMs: number
  readonly count: number
}

/** What ended in one span. */
export interface EndedBucket {
  readonly count: number
  /** Whether counting stopped early and the rest of the span was reckoned by the pace until then. */
  readonly about: boolean
}

/** How many ended in each span. */
export interface EndedBuckets {
  readonly finished: readonly EndedBucket[]
  readonly failed: readonly EndedBucket[]
}

/**
 * Counts what was finished and what failed in each span. At most `mostPerBucket` index entries of a span are read, so the cost is
 * bounded however much was done: of a busier one the pace is known, and so about how many there were.
 */
export async function endedBuckets(
  connection: Queryable,
  type: TaskTypeName,
  buckets: Buckets,
  mostPerBucket: number,
): Promise<EndedBuckets> {
  const table = tableOf(type)
  const counted = (column: string): string =>
    `cross join lateral (
       select count(*)::integer as count, max(x.ended) as last from (
         select t.${column} as ended from ${table} t
         where t.${column} is not null and t.${column} >= b.starts and t.${column} < b.ends order by t.${column} limit $4::integer) x
     ) ${column}`
  const result = await connection.query(
    `select finished_at.count as finished, ${pace('finished_at')} as "finishedPace", failed_at.count as failed, ${pace('failed_at')} as "failedPace"
     from (
       select to_timestamp(($1::double precision + n * $2::double precision) / 1000) as starts,
         to_timestamp(($1::double precision + (n + 1) * $2::double precision) / 1000) as ends, n
       from generate_series(0, $3::integer - 1) n
     ) b ${counted('finished_at')} ${counted('failed_at')}
     order by b.n`,
    [buckets.fromMs, buckets.stepMs, buckets.count, mostPerBucket],
  )
  const rows = result.rows as Array<
    Record<'finished' | 'failed', number> & Record<'finishedPace' | 'failedPace', number>
  >
  const bucket = (count: number, share: number): EndedBucket =>
    count < mostPerBucket || share <= 0 || share > 1
      ? { count, about: false }
      : { count: Math.round(count / share), about: true }
  return {
    finished: rows.map((row) => bucket(row.finished, row.finishedPace)),
    failed: rows.map((row) => bucket(row.failed, row.failedPace)),
  }
}

/** Which share of the span had passed when the last counted one ended. */
function pace(column: string): string {
  return `coalesce(extract(epoch from ${column}.last - b.starts) / nullif(extract(epoch from b.ends - b.starts), 0), 1)::double precision`
}
