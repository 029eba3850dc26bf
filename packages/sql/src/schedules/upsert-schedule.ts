import type { Queryable } from '../connection.js'
import { jsonOfRow } from '../statements/json-of-rows.js'
import { tableOf } from '../task-type-name.js'

/** A schedule to be written: what and when. Durations in milliseconds. */
export interface NewSchedule {
  readonly key: string
  readonly schema: string
  readonly table: string
  readonly columns: Readonly<Record<string, unknown>>
  readonly cron: string | null
  readonly everyMs: number | null
  readonly anchor: Date | null
  readonly timezone: string
  readonly catchUp: 'none' | 'latest' | 'all'
  readonly catchUpWindowMs: number
  readonly graceMs: number
  readonly overlap: 'allow' | 'skip' | 'buffer_one'
  readonly jitterMs: number
  readonly startsAt: Date | null
  readonly endsAt: Date | null
  readonly maxRuns: number | null
  /** `code`: a worker declares it, and may remove it when it no longer does; `api`: it was written by a call. */
  readonly origin: 'code' | 'api'
}

/** State of a schedule: `unplanned` until a worker has computed its first occurrence. */
export type ScheduleState = 'active' | 'unplanned' | 'paused' | 'finished'

/** Writes a schedule, or brings it up to date; one that is due at the same times keeps its place. */
export async function upsertSchedule(connection: Queryable, schedule: NewSchedule): Promise<ScheduleState> {
  const columns = await jsonOfRow(connection, tableOf({ ...schedule, functionName: '' }), schedule.columns)
  const milliseconds = (parameter: number): string => `make_interval(secs => $${parameter}::double precision / 1000)`
  const result = await connection.query(
    `select tasks.schedule($1::text, $2::text, $3::text, cron => $4::text, every => ${milliseconds(5)}, columns => $6::jsonb,
       timezone => $7::text, catch_up => $8::text, catch_up_window => ${milliseconds(9)}, grace => ${milliseconds(10)},
       overlap => $11::text, jitter => ${milliseconds(12)}, anchor => $13::timestamptz, starts_at => $14::timestamptz,
       ends_at => $15::timestamptz, max_runs => $16::integer, origin => $17::text) as state`,
    [
      schedule.key,
      schedule.schema,
      schedule.table,
      schedule.cron,
      schedule.everyMs,
      columns,
      schedule.timezone,
      schedule.catchUp,
      schedule.catchUpWindowMs,
      schedule.graceMs,
      schedule.overlap,
      schedule.jitterMs,
      schedule.anchor,
      schedule.startsAt,
      schedule.endsAt,
      schedule.maxRuns,
      schedule.origin,
    ],
  )
  return (result.rows[0] as { state: ScheduleState }).state
}
