import type { Queryable } from '../connection.js'
import { type ScheduleRow, scheduleColumns } from './schedule-row.js'

/** A schedule to be looked at, and the instant of the database by which it is judged. */
export interface DueSchedule extends ScheduleRow {
  readonly now: Date
}

/**
 * Locks and returns schedules that are unplanned or due: at most `limit` of each, but for those in `except`; those that another
 * scheduler holds are passed by. It also bounds how long the rest of the transaction may wait.
 */
export async function dueSchedules(
  connection: Queryable,
  limit: number,
  except: readonly string[] = [],
): Promise<DueSchedule[]> {
  const result = await connection.query(
    `select ${scheduleColumns('d.schedule')}, d.now from tasks.due_schedules($1::integer, $2::text[]) d`,
    [limit, except],
  )
  return result.rows as DueSchedule[]
}

/** Locks and returns up to `limit` cron schedules whose next occurrence was computed by older rules of their zone. */
export async function staleSchedules(connection: Queryable, tzdata: string, limit: number): Promise<DueSchedule[]> {
  const result = await connection.query(
    `select ${scheduleColumns('d.schedule')}, d.now from tasks.stale_schedules($1::text, $2::integer) d`,
    [tzdata, limit],
  )
  return result.rows as DueSchedule[]
}
