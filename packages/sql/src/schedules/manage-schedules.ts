import type { Queryable } from '../connection.js'
import { milliseconds, type ScheduleRow, scheduleColumns } from './schedule-row.js'
import type { ScheduleState } from './upsert-schedule.js'

/** A schedule as it stands in the database. */
export interface StoredSchedule extends ScheduleRow {
  readonly schema: string
  readonly table: string
  readonly columns: Readonly<Record<string, unknown>>
  readonly overlap: 'allow' | 'skip' | 'buffer_one'
  readonly jitterMs: number
  readonly state: ScheduleState
  /** Who wrote it: `code` is a worker that declares it, `api` a call. */
  readonly origin: 'code' | 'api'
  readonly lastAt: Date | null
  /** How late the last occurrence was handled; null if none was, or that was long ago. */
  readonly lagMs: number | null
  /** Missed occurrences that were passed over, at least. */
  readonly dropped: number
  readonly pausedAt: Date | null
  readonly pausedReason: string | null
  /** Why it could not be planned or enqueued; while it is paused, why it was set aside. */
  readonly lastError: string | null
}

/** All schedules, or the one with this key. */
export async function listSchedules(connection: Queryable, key?: string): Promise<StoredSchedule[]> {
  const result = await connection.query(
    `select ${scheduleColumns('s')}, coalesce(n.nspname, '') as "schema", coalesce(c.relname, '') as "table", s.columns, s.overlap,
       ${milliseconds('s.jitter')} as "jitterMs", tasks.schedule_state(s) as state, s.origin, s.last_at as "lastAt",
       ${milliseconds('(o.created_at - o.occurrence_at)')} as "lagMs", s.dropped::double precision as dropped,
       s.paused_at as "pausedAt", s.paused_reason as "pausedReason", s.last_error as "lastError"
     from tasks.schedules s
     left join tasks.occurrences o on o.schedule_key = s.key and o.occurrence_at = s.last_at
     left join pg_class c on c.oid = s.table_id
     left join pg_namespace n on n.oid = c.relnamespace
     where $1::text is null or s.key = $1::text
     order by s.key`,
    [key ?? null],
  )
  return result.rows as StoredSchedule[]
}

/** Removes a schedule; its tasks stay. False if there was none. */
export async function unschedule(connection: Queryable, key: string): Promise<boolean> {
  const result = await connection.query('select tasks.unschedule($1::text) as gone', [key])
  return (result.rows[0] as { gone: boolean }).gone
}

/** Removes schedules that workers declared, whose key begins with the prefix and is not among `declared`; returns their keys. */
export async function removeUndeclaredSchedules(
  connection: Queryable,
  declared: readonly string[],
  keyPrefix: string,
): Promise<string[]> {
  const result = await connection.query('select tasks.remove_undeclared_schedules($1::text[], $2::text) as key', [
    declared,
    keyPrefix,
  ])
  return (result.rows as Array<{ key: string }>).map((row) => row.key)
}

/** A paused schedule enqueues nothing until it is resumed. */
export async function pauseSchedule(connection: Queryable, key: string, reason?: string): Promise<void> {
  await connection.query('select tasks.pause_schedule($1::text, $2::text)', [key, reason ?? null])
}

/** Resumes a schedule: from now on, or with `catchUp` as if the pause had been an outage. */
export async function resumeSchedule(
  connection: Queryable,
  key: string,
  options: { readonly catchUp?: boolean } = {},
): Promise<ScheduleState> {
  const result = await connection.query('select tasks.resume_schedule($1::text, $2::boolean) as state', [
    key,
    options.catchUp ?? false,
  ])
  return (result.rows[0] as { state: ScheduleState }).state
}

/**
 * Enqueues a task of the schedule now, beside its occurrences; with the same request id once. Returns the task's id; null if the
 * table took none.
 */
export async function triggerSchedule(connection: Queryable, key: string, requestId?: string): Promise<string | null> {
  const result = await connection.query('select tasks.trigger_schedule($1::text, $2::text)::text as id', [
    key,
    requestId ?? null,
  ])
  return (result.rows[0] as { id: string | null }).id
}

/** Enqueues those of the occurrences that are not in the ledger; returns how many. */
export async function backfillSchedule(
  connection: Queryable,
  key: string,
  occurrences: readonly Date[],
): Promise<number> {
  const result = await connection.query('select tasks.backfill_schedule($1::text, $2::timestamptz[]) as count', [
    key,
    occurrences,
  ])
  return (result.rows[0] as { count: number }).count
}
