import type { Queryable } from '../connection.js'
import { type ScheduleRow, scheduleColumns } from './schedule-row.js'

/** A schedule to be looked at, and the instant of the database by which it is judged. */
export interface DueSchedule extends ScheduleRow {
  readonly now: Date
}

/** Locks and returns schedules that are unplanned or due; those that another scheduler holds are passed by. */
export async function dueSchedules(connection: Queryable, limit: number): Promise<DueSchedule[]> {
  const result = await connection.query(
    `select ${scheduleColumns('d.schedule')}, d.now from tasks.due_schedules($1::integer) d`,
    [limit],
  )
  return result.rows as DueSchedule[]
}

/** Locks and returns the cron schedules whose next occurrence was computed by other rules of their zone. */
export async function schedulesToReplan(connection: Queryable, tzdata: string): Promise<DueSchedule[]> {
  const result = await connection.query(
    `select ${scheduleColumns('d.schedule')}, d.now from tasks.replan_schedules($1::text) d`,
    [tzdata],
  )
  return result.rows as DueSchedule[]
}
