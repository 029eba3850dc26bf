import { parseCron } from '../../../packages/client/src/schedule/cron.js'

/** `2027-03-14T07:00Z`; with seconds where they are not zero. */
export function shortIso(date: Date): string {
  return date.toISOString().replace(/(:00)?\.000Z$/, 'Z')
}

/** The next `n` occurrences strictly later than an instant. */
export function nextOccurrences(cron: string, timezone: string, after: string, n: number): string[] {
  const cadence = parseCron(cron, timezone)
  const occurrences: string[] = []
  let occurrence = cadence.next(new Date(after))
  while (occurrence !== null && occurrences.length < n) {
    occurrences.push(shortIso(occurrence))
    occurrence = cadence.next(occurrence)
  }
  return occurrences
}

/** The last `n` occurrences strictly earlier than an instant, in the order of time. */
export function previousOccurrences(cron: string, timezone: string, before: string, n: number): string[] {
  const cadence = parseCron(cron, timezone)
  const occurrences: string[] = []
  let occurrence = cadence.previous(new Date(before))
  while (occurrence !== null && occurrences.length < n) {
    occurrences.unshift(shortIso(occurrence))
    occurrence = cadence.previous(occurrence)
  }
  return occurrences
}
