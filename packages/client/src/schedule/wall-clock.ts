const DAY_MS = 86_400_000
const SECOND_MS = 1000

/** An Intl formatter costs about 50 µs to build and 3 µs to ask; there are some 600 zone names at most. */
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(timezone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(timezone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(timezone, formatter)
  }
  return formatter
}

/** How far the clocks of the zone are ahead of UTC at an instant, in milliseconds. */
function offsetAt(timezone: string, instant: number): number {
  const second = Math.floor(instant / SECOND_MS) * SECOND_MS
  const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of formatterOf(timezone).formatToParts(second)) shown[type] = Number(value)
  const { year = NaN, month = NaN, day, hour, minute, second: seconds } = shown
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second
}

/**
 * What the clocks of the zone show at an instant.
 *
 * A wall-clock time is written as the epoch milliseconds at which a clock in UTC shows the same, so that it can be
 * compared and counted with like an instant.
 */
export function wallClockAt(timezone: string, instant: number): number {
  return instant + offsetAt(timezone, instant)
}

/**
 * The latest wall-clock time that the zone has shown at this instant or before it.
 *
 * It is ahead of `wallClockAt` while an hour is repeated, and for the rest of that day: the clock is read as if it had
 * not been put back in the last 24 hours.
 */
export function latestWallClockAt(timezone: string, instant: number): number {
  return Math.max(wallClockAt(timezone, instant), instant + offsetAt(timezone, instant - DAY_MS))
}

/**
 * The first instant at which the zone's clocks show this wall-clock time; if they skip it, the end of the gap.
 *
 * This is the rule of Vixie cron for a time of day without wildcards. It is monotone: a later wall-clock time never
 * gives an earlier instant.
 */
export function firstInstantOf(timezone: string, wallClock: number): number {
  // No offset is larger than a day and no zone has two changes within two days, so a day to either side is enough.
  const before = offsetAt(timezone, wallClock - DAY_MS)
  const after = offsetAt(timezone, wallClock + DAY_MS)
  if (before === after) return wallClock - before
  const earlier = wallClock - Math.max(before, after)
  const later = wallClock - Math.min(before, after)
  if (wallClockAt(timezone, earlier) === wallClock) return earlier
  if (wallClockAt(timezone, later) === wallClock) return later
  return offsetChangeBetween(timezone, earlier, later)
}

/** The second at which the one offset change in the interval takes place. */
function offsetChangeBetween(timezone: string, from: number, to: number): number {
  const before = offsetAt(timezone, from)
  let low = Math.floor(from / SECOND_MS)
  let high = Math.ceil(to / SECOND_MS)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(timezone, middle * SECOND_MS) === before) low = middle
    else high = middle
  }
  return high * SECOND_MS
}
