import {
  backfillSchedule as backfill,
  type Connection,
  listSchedules as list,
  pauseSchedule as pause,
  type Queryable,
  unschedule as remove,
  removeUndeclaredSchedules as removeUndeclared,
  resumeSchedule as resume,
  type ScheduleState,
  type StoredSchedule,
  toQueryable,
  triggerSchedule as trigger,
  upsertSchedule,
} from '@pg-tasks/sql'
import { ScheduleNotFoundError } from '../errors/database-errors.js'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import type { Columns } from '../task/claimed.js'
import type { Task } from '../task/task.js'
import { justBefore } from './cadence.js'
import { occurrencesBetween, preview } from './occurrences.js'
import { resolveSchedule, type ScheduledColumns, type ScheduleOptions } from './schedule-options.js'
import { resolveScheduleTiming, type ScheduleTimingOptions } from './timing.js'

/** Most occurrences of one backfill call: to compute so many takes up to a second, in which this process does nothing else. */
const MOST_BACKFILLED = 10_000

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
  const resolved = resolveSchedule(task, options, columns, 'api')
  return ask(connection, (queryable) => upsertSchedule(queryable, resolved))
}

/** Removes a schedule; its tasks stay. False if there was none. */
export function unschedule(connection: Connection, key: string): Promise<boolean> {
  return ask(connection, (queryable) => remove(queryable, key))
}

/**
 * Removes the schedules that workers declared and that are not among `declared`. Give the keys of all programs that declare
 * schedules in this database, or the beginning by which your program's keys are told from the others'. Returns the keys removed.
 */
export function removeUndeclaredSchedules(
  connection: Connection,
  declared: readonly string[],
  options: { readonly keyPrefix?: string } = {},
): Promise<string[]> {
  return ask(connection, (queryable) => removeUndeclared(queryable, declared, options.keyPrefix ?? ''))
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
 * Enqueues a task of the schedule now, beside its occurrences, whatever `overlap` says. Returns the task's id; null if the table
 * took none, because its like waits (unique tasks). The same `requestId` gives the same task, for as long as the ledger goes back.
 *
 * @throws ScheduleNotFoundError; the driver's error if the table refuses the task
 */
export function triggerSchedule(
  connection: Connection,
  key: string,
  options: { readonly requestId?: string } = {},
): Promise<string | null> {
  return ask(connection, (queryable) => trigger(queryable, key, options.requestId))
}

/**
 * Enqueues the occurrences from `from` to `to` (both included) that the ledger doesn't have, now and whatever `overlap` says.
 * Returns how many. The ledger goes back a week, or `catchUpWindowMs` if that is longer: what ran before would run again.
 *
 * @throws ScheduleNotFoundError; InvalidArgumentError if there are more than 10,000
 */
export async function backfillSchedule(connection: Connection, key: string, from: Date, to: Date): Promise<number> {
  const stored = await find(connection, key)
  const { occurrences, continueFrom } = occurrencesBetween(stored, from, to, MOST_BACKFILLED)
  if (continueFrom !== null) {
    throw new InvalidArgumentError(
      'to',
      `gives more than ${MOST_BACKFILLED} occurrences; go on from ${continueFrom.toISOString()} in another call.`,
    )
  }
  return ask(connection, (queryable) => backfill(queryable, key, occurrences))
}

/**
 * The next `n` occurrences strictly later than `from` of a schedule that needn't be stored anywhere, fewer if it ends before.
 * The grid of `everyMs` begins at `from` unless `anchor` or `startsAt` is given.
 *
 * @throws InvalidOptionError for the first option that can't be used, or if `n` isn't a whole number from 1 to 1000
 */
export function previewOccurrences(options: ScheduleTimingOptions, n: number, from: Date): Date[] {
  const timing = resolveScheduleTiming(options)
  return preview(timing.everyMs === null ? timing : { ...timing, anchor: timing.anchor ?? from }, n, from)
}

/**
 * The next `n` occurrences of a stored schedule, fewer if it ends before; from the one on that is not handled yet, as if it ran.
 *
 * @throws ScheduleNotFoundError; InvalidOptionError if `n` isn't a whole number from 1 to 1000, or it can't be computed
 */
export async function previewSchedule(connection: Connection, key: string, n: number): Promise<Date[]> {
  const stored = await find(connection, key)
  const { planned, planAfter, nextAt, maxRuns, runs } = stored
  if (planned && nextAt === null) return []
  const occurrences = preview(stored, n, nextAt === null ? planAfter : justBefore(nextAt))
  return maxRuns === null ? occurrences : occurrences.slice(0, Math.max(0, maxRuns - runs))
}

/** All schedules, by key. */
export function listSchedules(connection: Connection): Promise<StoredSchedule[]> {
  return ask(connection, (queryable) => list(queryable))
}

async function find(connection: Connection, key: string): Promise<StoredSchedule> {
  const [stored] = await ask(connection, (queryable) => list(queryable, key))
  if (stored === undefined) throw new ScheduleNotFoundError(`There is no schedule ${JSON.stringify(key)}`)
  return stored
}

async function ask<Value>(connection: Connection, statement: (queryable: Queryable) => Promise<Value>): Promise<Value> {
  try {
    return await statement(toQueryable(connection))
  } catch (error) {
    throw fromDatabaseError(error)
  }
}
