import type { Cadence } from './cadence.js'
import { type PatternStepper, parsePattern, stepperOf } from './cron-pattern.js'
import { refuse } from './refuse.js'
import { checkTimezone } from './timezone.js'
import { firstInstantOf, latestWallClockAt, wallClockAt } from './wall-clock.js'

/** The calendar repeats after 400 years, and the search takes that long, so any start gives the same answer. */
const ANY_DATE = new Date('2000-01-01T00:00:00Z')

/**
 * Reads a cron expression in a time zone.
 *
 * Changes of the clocks follow Vixie cron: a fixed time of day is due exactly once on every matching day, in a skipped
 * hour when the gap ends, in a repeated hour the first time. With a wildcard or a step in seconds, minutes or hours the
 * expression keeps its cadence in real time: nothing in the skipped hour, both passes of the repeated one.
 *
 * @throws InvalidOptionError for the option `cron` or `timezone`.
 */
export function parseCron(cron: unknown, timezone: unknown): Cadence {
  checkTimezone(timezone)
  const { pattern, fixedTime } = parsePattern(cron)
  return fixedTime
    ? fixedTimeCadence(stepperOf(pattern, 'UTC'), timezone)
    : realTimeCadence(stepperOf(pattern, timezone))
}

/**
 * Refuses, before it is stored, an expression that can't be read, and one that never fires (`0 0 31 2 *`).
 *
 * @throws InvalidOptionError for the option `cron` or `timezone`.
 */
export function checkCron(cron: unknown, timezone: unknown): void {
  if (parseCron(cron, timezone).next(ANY_DATE) === null) {
    refuse('cron', cron, 'never fires: no date matches day-of-month, month and day-of-week')
  }
}

/**
 * The first occurrence strictly later than `after`; null if there is none before the year 3000.
 *
 * To walk through many, take {@link parseCron} once and step with `next`.
 *
 * @throws InvalidOptionError for the option `cron` or `timezone`.
 */
export function nextOccurrence(cron: string, timezone: string, after: Date): Date | null {
  return parseCron(cron, timezone).next(after)
}

/** With wildcards, croner's own walk through the zone is right (and measured against the oracle in the tests). */
function realTimeCadence(stepper: PatternStepper): Cadence {
  return withCount({
    next: (after) => dateOf(stepper.next(after.getTime())),
    previous: (before) => dateOf(stepper.previous(before.getTime())),
  })
}

/**
 * A fixed time is stepped through on the wall clock, and each wall-clock time mapped to its one instant.
 *
 * croner's own walk loses the occurrence of a gap that ends on the next day (America/Nuuk, America/Scoresbysund every
 * spring; Pacific/Apia in 2011), because it only looks for the end of the gap on the same day.
 */
function fixedTimeCadence(wallClock: PatternStepper, timezone: string): Cadence {
  return withCount({
    next(after) {
      let shown = wallClock.next(wallClockAt(timezone, after.getTime()))
      while (shown !== null) {
        const instant = firstInstantOf(timezone, shown)
        if (instant > after.getTime()) return new Date(instant)
        // In the second pass of a repeated hour: this time was due in the first.
        shown = wallClock.next(shown)
      }
      return null
    },
    previous(before) {
      let shown = wallClock.previous(latestWallClockAt(timezone, before.getTime()))
      while (shown !== null) {
        const instant = firstInstantOf(timezone, shown)
        if (instant < before.getTime()) return new Date(instant)
        // Skipped by a gap that ends at `before` itself, or later than the repeated hour.
        shown = wallClock.previous(shown)
      }
      return null
    },
  })
}

function withCount(walk: Pick<Cadence, 'next' | 'previous'>): Cadence {
  return {
    ...walk,
    countBetween(after, before, limit) {
      let count = 0
      let occurrence = walk.next(after)
      while (occurrence !== null && occurrence < before && count < limit) {
        count += 1
        occurrence = walk.next(occurrence)
      }
      return { count, exact: occurrence === null || occurrence >= before }
    },
  }
}

function dateOf(instant: number | null): Date | null {
  return instant === null ? null : new Date(instant)
}
