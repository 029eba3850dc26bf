import type { Cadence } from './cadence.js'
import { refuse } from './refuse.js'

const SECOND_MS = 1000
const HUNDRED_YEARS_MS = 36_525 * 86_400_000

/**
 * Refuses an interval that isn't a whole number of seconds between one second and a hundred years.
 *
 * @throws InvalidOptionError for the option `everyMs`.
 */
export function checkEvery(everyMs: unknown): asserts everyMs is number {
  if (typeof everyMs !== 'number' || Number.isNaN(everyMs)) refuse('everyMs', everyMs, 'give a number of milliseconds')
  if (everyMs < SECOND_MS) refuse('everyMs', everyMs, 'the shortest interval is 1000, one second')
  if (everyMs > HUNDRED_YEARS_MS) refuse('everyMs', everyMs, 'the longest interval is a hundred years')
  if (everyMs % SECOND_MS !== 0) refuse('everyMs', everyMs, 'give a whole number of seconds, a multiple of 1000')
}

/**
 * The grid `anchor + k × everyMs` in elapsed time, for every whole k, also before the anchor.
 *
 * An occurrence that was handled late doesn't move the ones after it, a restart doesn't begin anew, and a change of
 * the clocks in some zone is not seen at all. (The idea is Temporal's, whose intervals are a grid on the epoch.)
 */
export function everyCadence(everyMs: number, anchor: Date): Cadence {
  const origin = anchor.getTime()
  const stepBefore = (instant: Date) => Math.ceil((instant.getTime() - origin) / everyMs) - 1
  const stepAfter = (instant: Date) => Math.floor((instant.getTime() - origin) / everyMs) + 1
  const at = (step: number) => new Date(origin + step * everyMs)

  return {
    next: (after) => at(stepAfter(after)),
    previous: (before) => at(stepBefore(before)),
    countBetween: (after, before) => ({ count: Math.max(0, stepBefore(before) - stepAfter(after) + 1), exact: true }),
  }
}
