import { justBefore } from './cadence.js'
import { refuse } from './refuse.js'
import { cadenceOf, type OccurrenceTiming } from './timing.js'

/** A stretch of occurrences, in order. */
export interface OccurrenceRange {
  readonly occurrences: readonly Date[]
  /** Where to go on when there were more than the cap; null when this was all. */
  readonly continueFrom: Date | null
}

const LONGEST_PREVIEW = 1000

/**
 * The first occurrence strictly later than `after` and within `startsAt` and `endsAt`; null if there is none.
 *
 * With the database's `now`, this is `next_at` of a schedule that is new, was changed, or is resumed without catching
 * up: never in the past.
 *
 * @throws InvalidOptionError for a timing that can't be used.
 */
export function firstOccurrence(timing: OccurrenceTiming, after: Date): Date | null {
  return cadenceOf(timing).next(after)
}

/**
 * The next `n` occurrences strictly later than `from`, fewer if the schedule ends before.
 *
 * @throws InvalidOptionError for a timing that can't be used, and for an `n` that is not whole or not in 1 … 1000.
 */
export function preview(timing: OccurrenceTiming, n: number, from: Date): Date[] {
  if (!Number.isInteger(n) || n < 1 || n > LONGEST_PREVIEW) {
    refuse('n', n, `give a whole number from 1 to ${LONGEST_PREVIEW}`)
  }
  const cadence = cadenceOf(timing)
  const occurrences: Date[] = []
  let occurrence = cadence.next(from)
  while (occurrence !== null && occurrences.length < n) {
    occurrences.push(occurrence)
    occurrence = cadence.next(occurrence)
  }
  return occurrences
}

/**
 * The occurrences from `from` to `to`, both included, within `startsAt` and `endsAt`; at most `cap` of them.
 *
 * For a backfill, which creates through the same occurrence key as the schedule and so fills only holes; it doesn't
 * count against `maxRuns`.
 *
 * @throws InvalidOptionError for a timing that can't be used, a `to` before `from`, and a `cap` that is not at least 1.
 */
export function occurrencesBetween(timing: OccurrenceTiming, from: Date, to: Date, cap: number): OccurrenceRange {
  if (!(to >= from)) refuse('to', to, `it is not a date from ${String(from)} on`)
  if (!(cap >= 1)) refuse('cap', cap, 'give a number from 1 on')
  const cadence = cadenceOf(timing)
  const occurrences: Date[] = []
  let occurrence = cadence.next(justBefore(from))
  while (occurrence !== null && occurrence <= to) {
    if (occurrences.length >= cap) return { occurrences, continueFrom: occurrence }
    occurrences.push(occurrence)
    occurrence = cadence.next(occurrence)
  }
  return { occurrences, continueFrom: null }
}
