import { type Cadence, justAfter } from './cadence.js'
import { cadenceOf, type OccurrenceTiming, type ScheduleTiming } from './timing.js'

/** A stored schedule as the plan needs it. */
export interface ScheduleState
  extends OccurrenceTiming,
    Pick<ScheduleTiming, 'maxRuns' | 'catchUp' | 'catchUpWindowMs' | 'graceMs'> {
  /** The watermark: the earliest occurrence not yet handled; null once the schedule is finished. */
  readonly nextAt: Date | null
  /** How many occurrences were handed over so far; compared with `maxRuns`. */
  readonly runs: number
}

export interface PlanLimits {
  /**
   * How many occurrences of one schedule one pass hands over; the rest stays due.
   * @defaultValue 1000
   */
  readonly maxDue: number
  /**
   * How far dropped occurrences of a cron expression are counted; each costs about 50 µs.
   * @defaultValue 500
   */
  readonly maxCounted: number
}

interface PlannedOccurrence {
  readonly occurrenceAt: Date
  /** `catchup` if it was missed, that is, is handled `graceMs` late or later. */
  readonly trigger: 'schedule' | 'catchup'
}

/** What one pass does with one schedule. */
export interface OccurrencePlan {
  /** The occurrences that become tasks, in order. */
  readonly due: readonly PlannedOccurrence[]
  /** How many were due and are passed over by the policy, all earlier than those in `due`. */
  readonly droppedCount: number
  /** Whether there are more than `droppedCount`: counting stopped at the limit. */
  readonly droppedMore: boolean
  readonly droppedFrom: Date | null
  readonly droppedTo: Date | null
  /** The new watermark; still due if `capped`, null if `finished`. */
  readonly nextAt: Date | null
  readonly finished: boolean
  readonly capped: boolean
}

const DEFAULT_LIMITS: PlanLimits = { maxDue: 1000, maxCounted: 500 }

const NOTHING_DROPPED = { droppedCount: 0, droppedMore: false, droppedFrom: null, droppedTo: null }

/**
 * Decides which occurrences of a schedule become tasks now, and when it is due next.
 *
 * An occurrence handled less than `graceMs` late was not missed and always runs. Of the missed ones, back to
 * `catchUpWindowMs`: `all` runs each, `latest` the last one unless a later one runs anyway, `none` nothing. (Quartz
 * calls the grace misfire threshold; the window is Temporal's.) The others are dropped, and reported so that nothing
 * disappears silently.
 *
 * Cheap however long nobody ran: it jumps to the first occurrence that runs and steps from there.
 *
 * @param now - the database's clock; the process's clock decides nothing
 * @throws InvalidOptionError for a row that can't be used; set that schedule aside and go on with the others.
 */
export function planOccurrences(
  schedule: ScheduleState,
  now: Date,
  { maxDue, maxCounted }: PlanLimits = DEFAULT_LIMITS,
): OccurrencePlan {
  const { nextAt, endsAt, maxRuns, runs } = schedule
  const remaining = maxRuns === null ? Infinity : maxRuns - runs
  if (nextAt === null || (endsAt !== null && nextAt > endsAt) || remaining <= 0) return nothingDue(null)
  if (nextAt > now) return nothingDue(nextAt)

  const backlog: Backlog = { cadence: cadenceOf(schedule), from: nextAt, until: now }
  const first = firstThatRuns(backlog, schedule)
  const { due, following } = collect(backlog, first, Math.min(maxDue, remaining))
  const capped = following !== null && due.length < remaining
  const newNextAt = capped ? following : due.length < remaining ? backlog.cadence.next(now) : null
  return {
    due: due.map((occurrenceAt) => ({ occurrenceAt, trigger: triggerOf(occurrenceAt, schedule, now) })),
    ...describeDropped(backlog, first, maxCounted),
    nextAt: newNextAt,
    finished: newNextAt === null,
    capped,
  }
}

/**
 * The watermark after the rules of the zone changed (see `tzdataVersion`).
 *
 * What is still ahead is planned with the new rules. What was due already stays due at the instant that was promised,
 * so that an update of the rules, which comes with a restart, neither loses it nor runs the past once more.
 *
 * @throws InvalidOptionError for a row that can't be used.
 */
export function replanNextAt(schedule: OccurrenceTiming & Pick<ScheduleState, 'nextAt'>, now: Date): Date | null {
  if (schedule.nextAt === null || schedule.nextAt <= now) return schedule.nextAt
  return cadenceOf(schedule).next(now)
}

/** The occurrences from the watermark to the present. */
interface Backlog {
  readonly cadence: Cadence
  readonly from: Date
  readonly until: Date
}

/** The first occurrence of the backlog that becomes a task; all later ones do too. */
function firstThatRuns(backlog: Backlog, { catchUp, catchUpWindowMs, graceMs }: ScheduleState): Date | null {
  const now = backlog.until.getTime()
  const onTime = firstFrom(backlog, now - graceMs + 1)
  switch (catchUp) {
    case 'none':
      return onTime
    case 'all':
      return firstFrom(backlog, now - Math.max(catchUpWindowMs, graceMs - 1))
    case 'latest': {
      if (onTime !== null) return onTime
      const latest = latestBefore(backlog, justAfter(backlog.until))
      return now - latest.getTime() <= catchUpWindowMs ? latest : null
    }
  }
}

/** The first occurrence of the backlog at or after an instant. */
function firstFrom({ cadence, from, until }: Backlog, earliest: number): Date | null {
  const first = from.getTime() >= earliest ? from : cadence.next(new Date(earliest - 1))
  return first !== null && first <= until ? first : null
}

/** The last occurrence of the backlog; the watermark itself is one, even under rules that have changed since. */
function latestBefore({ cadence, from }: Backlog, before: Date): Date {
  const latest = cadence.previous(before)
  return latest !== null && latest > from ? latest : from
}

function collect({ cadence, until }: Backlog, first: Date | null, limit: number) {
  const due: Date[] = []
  let following = first
  while (following !== null && following <= until && due.length < limit) {
    due.push(following)
    following = cadence.next(following)
  }
  return { due, following: following !== null && following <= until ? following : null }
}

function describeDropped(backlog: Backlog, first: Date | null, maxCounted: number) {
  const { cadence, from, until } = backlog
  if (first !== null && first <= from) return NOTHING_DROPPED
  const end = first ?? justAfter(until)
  const { count, exact } = cadence.countBetween(from, end, maxCounted - 1)
  return { droppedCount: 1 + count, droppedMore: !exact, droppedFrom: from, droppedTo: latestBefore(backlog, end) }
}

function triggerOf(occurrence: Date, { graceMs }: ScheduleState, now: Date): PlannedOccurrence['trigger'] {
  return now.getTime() - occurrence.getTime() < graceMs ? 'schedule' : 'catchup'
}

function nothingDue(nextAt: Date | null): OccurrencePlan {
  return { due: [], ...NOTHING_DROPPED, nextAt, finished: nextAt === null, capped: false }
}
