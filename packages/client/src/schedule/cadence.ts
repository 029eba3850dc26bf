/**
 * When something is due: a cron expression in a time zone, or a fixed grid.
 *
 * Pure: the same question always has the same answer, so a stored occurrence can be stepped from at any time and by
 * anyone. All instants are whole milliseconds.
 */
export interface Cadence {
  /** The first occurrence strictly later than `after`; null if there is none before the year 3000. */
  next(after: Date): Date | null

  /** The last occurrence strictly earlier than `before`; null if there is none. */
  previous(before: Date): Date | null

  /** How many occurrences lie strictly between two instants. */
  countBetween(after: Date, before: Date, limit: number): OccurrenceCount
}

interface OccurrenceCount {
  readonly count: number
  /** Occurrences of a cron expression have to be walked through, which stops at the limit: then there may be more. */
  readonly exact: boolean
}

/** The same cadence without the occurrences before `startsAt` and after `endsAt`; those at either instant stay. */
export function boundedCadence(cadence: Cadence, startsAt: Date | null, endsAt: Date | null): Cadence {
  const notBefore = (after: Date) => (startsAt !== null && startsAt > after ? justBefore(startsAt) : after)
  const notAfter = (before: Date) => (endsAt !== null && endsAt < before ? justAfter(endsAt) : before)

  return {
    next(after) {
      const occurrence = cadence.next(notBefore(after))
      return occurrence !== null && endsAt !== null && occurrence > endsAt ? null : occurrence
    },
    previous(before) {
      const occurrence = cadence.previous(notAfter(before))
      return occurrence !== null && startsAt !== null && occurrence < startsAt ? null : occurrence
    },
    countBetween: (after, before, limit) => cadence.countBetween(notBefore(after), notAfter(before), limit),
  }
}

export function justBefore(instant: Date): Date {
  return new Date(instant.getTime() - 1)
}

export function justAfter(instant: Date): Date {
  return new Date(instant.getTime() + 1)
}
