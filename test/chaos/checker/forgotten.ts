import { type HistoryEvent, isEvent } from '../history.js'

/** How long after the server's end somebody may still take note of its answers: a process that was frozen does so late. */
const LATE_MS = 15_000

/** Tells whether what was noted at a moment may have been lost by a failover to a replica that had not heard of it. */
export function forgottenAt(events: readonly HistoryEvent[]): (at: number) => boolean {
  const began = events.filter((event) => isEvent(event, 'forgetting_began')).map(({ at }) => at)
  const ended = events.filter((event) => isEvent(event, 'forgetting_ended')).map(({ at }) => at)
  return (at) => began.some((from, index) => at >= from && at <= (ended[index] ?? Number.POSITIVE_INFINITY) + LATE_MS)
}
