import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { Buckets } from './ended-buckets.js'

/** How long tasks waited after they were due, and how long they ran, in milliseconds. */
export interface Durations {
  /** How many were looked at. */
  readonly tasks: number
  readonly waitP50Ms: number | null
  readonly waitP95Ms: number | null
  readonly runP50Ms: number | null
  readonly runP95Ms: number | null
  readonly runMaxMs: number | null
}

const PERCENTILES = `count(*)::integer as tasks,
  percentile_cont(0.5) within group (order by x.wait) as "waitP50Ms", percentile_cont(0.95) within group (order by x.wait) as "waitP95Ms",
  percentile_cont(0.5) within group (order by x.run) as "runP50Ms", percentile_cont(0.95) within group (order by x.run) as "runP95Ms",
  max(x.run) as "runMaxMs"`

/** Of one run: the last. A task that was retried waited since its retry was planned. */
const WAIT_AND_RUN = `(1000 * extract(epoch from greatest(t.started_at - greatest(t.planned_to, t.created_at), interval '0')))::double precision as wait,
  (1000 * extract(epoch from t.finished_at - t.started_at))::double precision as run`

/** Of the `newest` tasks that finished last. */
export async function newestDurations(connection: Queryable, type: TaskTypeName, newest: number): Promise<Durations> {
  const result = await connection.query(
    `select ${PERCENTILES} from (
       select ${WAIT_AND_RUN} from ${tableOf(type)} t where t.finished_at is not null order by t.finished_at desc limit $1::integer) x`,
    [newest],
  )
  return result.rows[0] as Durations
}

/** Of the first `perBucket` tasks that finished in each span. */
export async function durationBuckets(
  connection: Queryable,
  type: TaskTypeName,
  buckets: Buckets,
  perBucket: number,
): Promise<Durations[]> {
  const result = await connection.query(
    `select d.* from (
       select to_timestamp(($1::double precision + n * $2::double precision) / 1000) as starts,
         to_timestamp(($1::double precision + (n + 1) * $2::double precision) / 1000) as ends, n
       from generate_series(0, $3::integer - 1) n
     ) b cross join lateral (
       select ${PERCENTILES} from (
         select ${WAIT_AND_RUN} from ${tableOf(type)} t
         where t.finished_at is not null and t.finished_at >= b.starts and t.finished_at < b.ends order by t.finished_at limit $4::integer) x
     ) d
     order by b.n`,
    [buckets.fromMs, buckets.stepMs, buckets.count, perBucket],
  )
  return result.rows as Durations[]
}
