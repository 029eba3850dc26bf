import {
  backfillSchedule as backfill,
  type Connection,
  listSchedules as list,
  pauseSchedule as pause,
  type Queryable,
  unschedule as remove,
  resumeSchedule as resume,
  type ScheduleState,
  type StoredSchedule,
  toQueryable,
  triggerSchedule as trigger,
  upsertSchedule,
} from '@pg-tasks/sql'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import type { Columns } from '../task/claimed.js'
import type { Task } from '../task/task.js'
import { occurrencesBetween } from './occurrences.js'
import { resolveSchedule, type ScheduledColumns, type ScheduleOptions } from './schedule-options.js'

/** Most occurrences of one backfill call. */
const MOST_BACKFILLED = 100_000

/**
 * Writes a schedule, or brings it up to date: one that is due at the same times as before keeps its place, so a deploy that
 * says the same again moves nothing. A worker plans it.
 *
 * @throws InvalidOptionError if an option can't be used; InvalidSqlArgumentError if a column of its tasks is unknown, has
 * another type or is missing; TypeNotRegisteredError
 */
export async function schedule<Own extends Columns>(
  connection: Connection,
  task: Task<Own>,
  options: ScheduleOptions,
  columns: ScheduledColumns<Own>,
): Promise<ScheduleState> {
  const resolved = resolveSchedule(task, options, columns)
  return ask(connection, (queryable) => upsertSchedule(queryable, resolved))
}

/** Removes a schedule; its tasks stay. False if there was none. */
export function unschedule(connection: Connection, key: string): Promise<boolean> {
  return ask(connection, (queryable) => remove(queryable, key))
}

/** A paused schedule enqueues nothing until it is resumed. @throws ScheduleNotFoundError */
export function pauseSchedule(connection: Connection, key: string, reason?: string): Promise<void> {
  return ask(connection, (queryable) => pause(queryable, key, reason))
}

/**
 * Resumes a schedule: from now on, or with `catchUp` as if the pause had been an outage (its `catchUp` policy then applies).
 *
 * @throws ScheduleNotFoundError
 */
export function resumeSchedule(
  connection: Connection,
  key: string,
  options: { readonly catchUp?: boolean } = {},
): Promise<ScheduleState> {
  return ask(connection, (queryable) => resume(queryable, key, options))
}

/**
 * Enqueues a task of the schedule now, beside its occurrences. Returns the task's id; the same `requestId` gives the same one.
 *
 * @throws ScheduleNotFoundError
 */
export function triggerSchedule(
  connection: Connection,
  key: string,
  options: { readonly requestId?: string } = {},
): Promise<string> {
  return ask(connection, (queryable) => trigger(queryable, key, options.requestId))
}

/**
 * Enqueues the occurrences from `from` to `to` (both included) that have not run. Returns how many.
 *
 * @throws ScheduleNotFoundError; InvalidArgumentError if there are more than 100,000
 */
export async function backfillSchedule(connection: Connection, key: string, from: Date, to: Date): Promise<number> {
  return ask(connection, async (queryable) => {
    const [stored] = await list(queryable, key)
    // Raises that there is none, in the database's own words.
    if (stored === undefined) return backfill(queryable, key, [])
    const { occurrences, continueFrom } = occurrencesBetween(stored, from, to, MOST_BACKFILLED)
    if (continueFrom !== null) {
      throw new InvalidArgumentError(
        'to',
        `gives more than ${MOST_BACKFILLED} occurrences; go on from ${continueFrom.toISOString()} in another call.`,
      )
    }
    return backfill(queryable, key, occurrences)
  })
}

/** All schedules, by key. */
export function listSchedules(connection: Connection): Promise<StoredSchedule[]> {
  return ask(connection, (queryable) => list(queryable))
}

async function ask<Value>(connection: Connection, statement: (queryable: Queryable) => Promise<Value>): Promise<Value> {
  try {
    return await statement(toQueryable(connection))
  } catch (error) {
    throw fromDatabaseError(error)
  }
}
