import { boundedCadence, type Cadence } from './cadence.js'
import { checkCron, parseCron } from './cron.js'
import { checkEvery, everyCadence } from './every.js'
import { refuse } from './refuse.js'
import { checkTimezone } from './timezone.js'

const CATCH_UP = ['none', 'latest', 'all'] as const

/** What becomes of occurrences that were missed: nothing, the latest one runs, or all run. */
export type CatchUp = (typeof CATCH_UP)[number]

/** When a schedule is due, and what is made up for. */
export interface ScheduleTimingOptions {
  /**
   * Five fields, or six with seconds first, or `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`. Either
   * this or `everyMs`.
   *
   * When day-of-month and day-of-week are both given, either suffices, unless day-of-week begins with `+`:
   * `0 0 13 * +5` is Friday 13th. A step that doesn't divide its field is uneven: every five hours is
   * `everyMs: 18_000_000`, not a step of five in the hours, which starts anew at midnight.
   */
  readonly cron?: string
  /** A fixed interval in milliseconds, whole seconds. Either this or `cron`. */
  readonly everyMs?: number
  /**
   * The zone of `cron`: an IANA name such as `Europe/Berlin`. `everyMs` counts elapsed time in any zone.
   * @defaultValue 'UTC'
   */
  readonly timezone?: string
  /**
   * A point of the grid of `everyMs`: the schedule is due at `anchor + k × everyMs`.
   * @defaultValue `startsAt`, and without it null: the moment at which the schedule is first stored
   */
  readonly anchor?: Date | null
  /**
   * No occurrence is earlier; one at this instant counts.
   * @defaultValue null, no limit
   */
  readonly startsAt?: Date | null
  /**
   * No occurrence is later; one at this instant counts.
   * @defaultValue null, no limit
   */
  readonly endsAt?: Date | null
  /**
   * After so many occurrences the schedule is finished; a change of when it is due counts anew.
   * @defaultValue null, no limit
   */
  readonly maxRuns?: number | null
  /**
   * What becomes of occurrences that were missed, that is, could not be handled within `graceMs`.
   * @defaultValue 'latest'
   */
  readonly catchUp?: CatchUp
  /**
   * How far back missed occurrences are made up for, in milliseconds.
   * @defaultValue 3_600_000, one hour
   */
  readonly catchUpWindowMs?: number
  /**
   * An occurrence handled less than so many milliseconds late was not missed: it runs under every policy.
   * @defaultValue 60_000
   */
  readonly graceMs?: number
  /**
   * Each task is put off by up to so many milliseconds, the same for the same occurrence.
   * @defaultValue 0
   */
  readonly jitterMs?: number
}

/** {@link ScheduleTimingOptions} with the defaults filled in; what a row of a schedule holds. */
export interface ScheduleTiming {
  readonly cron: string | null
  readonly everyMs: number | null
  readonly timezone: string
  readonly anchor: Date | null
  readonly startsAt: Date | null
  readonly endsAt: Date | null
  readonly maxRuns: number | null
  readonly catchUp: CatchUp
  readonly catchUpWindowMs: number
  readonly graceMs: number
  readonly jitterMs: number
}

/**
 * Fills in the defaults and refuses, before anything is stored, what could never run or would run at another time than
 * it seems.
 *
 * @throws InvalidOptionError for the first option that can't be used.
 */
export function resolveScheduleTiming(options: ScheduleTimingOptions): ScheduleTiming {
  const timing: ScheduleTiming = {
    cron: options.cron ?? null,
    everyMs: options.everyMs ?? null,
    timezone: options.timezone ?? 'UTC',
    anchor: options.anchor ?? (options.everyMs === undefined ? null : (options.startsAt ?? null)),
    startsAt: options.startsAt ?? null,
    endsAt: options.endsAt ?? null,
    maxRuns: options.maxRuns ?? null,
    catchUp: options.catchUp ?? 'latest',
    catchUpWindowMs: options.catchUpWindowMs ?? 3_600_000,
    graceMs: options.graceMs ?? 60_000,
    jitterMs: options.jitterMs ?? 0,
  }
  checkCadence(timing)
  checkLimits(timing)
  if (!CATCH_UP.includes(timing.catchUp)) refuse('catchUp', timing.catchUp, `one of ${CATCH_UP.join(', ')}`)
  checkDuration('catchUpWindowMs', timing.catchUpWindowMs)
  checkDuration('graceMs', timing.graceMs)
  checkDuration('jitterMs', timing.jitterMs)
  return Object.freeze(timing)
}

/** What decides when a schedule is due; catching up plays no part in it. */
export type OccurrenceTiming = Pick<ScheduleTiming, 'cron' | 'everyMs' | 'timezone' | 'anchor' | 'startsAt' | 'endsAt'>

/**
 * The cadence of a stored schedule, from `startsAt` to `endsAt`.
 *
 * @throws InvalidOptionError for a row that was written by hand and can't be used; it must not stop other schedules.
 */
export function cadenceOf({ cron, everyMs, timezone, anchor, startsAt, endsAt }: OccurrenceTiming): Cadence {
  if (cron !== null) return boundedCadence(parseCron(cron, timezone), startsAt, endsAt)
  checkEvery(everyMs)
  if (anchor === null) refuse('anchor', anchor, 'a schedule with everyMs needs one')
  return boundedCadence(everyCadence(everyMs, anchor), startsAt, endsAt)
}

function checkCadence({ cron, everyMs, timezone, anchor }: ScheduleTiming): void {
  if (cron !== null && everyMs !== null) refuse('everyMs', everyMs, 'cron is given too; give one of the two')
  if (cron === null && everyMs === null) refuse('cron', cron, 'give cron or everyMs')
  checkTimezone(timezone)
  checkDate('anchor', anchor)
  if (everyMs !== null) {
    checkEvery(everyMs)
  } else {
    if (anchor !== null) refuse('anchor', anchor, 'it belongs to everyMs; cron has no anchor')
    checkCron(cron, timezone)
  }
}

function checkLimits({ startsAt, endsAt, maxRuns }: ScheduleTiming): void {
  checkDate('startsAt', startsAt)
  checkDate('endsAt', endsAt)
  if (startsAt !== null && endsAt !== null && endsAt < startsAt) {
    refuse('endsAt', endsAt.toISOString(), `it is earlier than startsAt, ${startsAt.toISOString()}`)
  }
  if (maxRuns !== null && !(Number.isSafeInteger(maxRuns) && maxRuns >= 1)) {
    refuse('maxRuns', maxRuns, 'give a whole number from 1 on')
  }
}

function checkDate(option: string, date: unknown): void {
  if (date === null) return
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) refuse(option, date, 'give a valid Date')
}

function checkDuration(option: string, durationMs: unknown): void {
  if (!(Number.isSafeInteger(durationMs) && Number(durationMs) >= 0)) {
    refuse(option, durationMs, 'give a whole number of milliseconds from 0 on')
  }
}
