import { Temporal } from 'temporal-polyfill'

/**
 * The occurrences of a cron expression, found by watching a clock: slow, obvious, and without a line in common with
 * packages/client.
 *
 * The clock on the wall of a zone runs evenly and jumps now and then. An expression with a wildcard in its time of day
 * is due whenever the clock shows a matching time. A fixed time is due when the clock shows it for the first time, and
 * if the clock jumps over it, at the jump.
 */
export interface Oracle {
  /** The first `n` occurrences strictly later than an instant. */
  after(instant: number, n: number): number[]
  /** The last `n` occurrences strictly earlier than an instant, the latest first. */
  before(instant: number, n: number): number[]
}

/** The clock runs without a jump from `start` to `end`; it shows the instant plus `offset`. */
interface Run {
  readonly start: number
  readonly end: number
  readonly offset: number
}

const DAY = 86_400_000
const FIRST = Date.UTC(1999, 0, 1)
const LAST = Date.UTC(2045, 0, 1)
/** Windows to look through until enough was found, in days. */
const WINDOWS = [4, 40, 500, 4_500]

const runsOfZone = new Map<string, Run[]>()

/** How the zone's clock runs between 1999 and 2045. */
export function runsOf(timezone: string): readonly Run[] {
  const known = runsOfZone.get(timezone)
  if (known !== undefined) return known
  const runs: Run[] = []
  let start = Temporal.Instant.fromEpochMilliseconds(FIRST).toZonedDateTimeISO(timezone)
  while (start.epochMilliseconds < LAST) {
    const end = start.getTimeZoneTransition('next')
    const run = { start: start.epochMilliseconds, offset: start.offsetNanoseconds / 1e6 }
    if (end === null) {
      runs.push({ ...run, end: LAST })
      break
    }
    runs.push({ ...run, end: Math.min(end.epochMilliseconds, LAST) })
    start = end
  }
  runsOfZone.set(timezone, runs)
  return runs
}

export function oracleFor(cron: string, timezone: string): Oracle {
  const pattern = readPattern(cron)
  return {
    after: (instant, n) =>
      widen(n, (days) => occurrences(pattern, timezone, instant + 1, instant + days * DAY)).slice(0, n),
    before: (instant, n) =>
      widen(n, (days) => occurrences(pattern, timezone, instant - days * DAY, instant - 1).reverse()).slice(0, n),
  }
}

function widen(n: number, look: (days: number) => number[]): number[] {
  let found: number[] = []
  for (const days of WINDOWS) {
    found = look(days)
    if (found.length >= n) return found
  }
  return found
}

/** All occurrences from `from` to `to`, both included. */
function occurrences(pattern: Pattern, timezone: string, from: number, to: number): number[] {
  const due = new Set<number>()
  let shownUntil = -Infinity
  for (const { start, end, offset } of runsOf(timezone)) {
    const begins = start + offset
    if (end + 3 * DAY >= from && start <= to) {
      const skipped = Number.isFinite(shownUntil) && begins > shownUntil && start >= from && start <= to
      if (pattern.fixedTime && skipped && shownTimes(pattern, shownUntil, begins).length > 0) due.add(start)
      const low = Math.max(start, from)
      const high = Math.min(end - 1, to)
      for (const shown of shownTimes(pattern, low + offset, high + offset + 1)) {
        if (pattern.fixedTime && shown < shownUntil) continue
        due.add(shown - offset)
      }
    }
    shownUntil = Math.max(shownUntil, end + offset)
  }
  return [...due].sort((a, b) => a - b)
}

/** The matching wall-clock times from `low` up to, not including, `high`. */
function shownTimes(pattern: Pattern, low: number, high: number): number[] {
  const shown: number[] = []
  for (let day = Math.floor(low / DAY) * DAY; day < high; day += DAY) {
    if (!isMatchingDay(pattern, new Date(day))) continue
    for (const hour of pattern.hours) {
      for (const minute of pattern.minutes) {
        for (const second of pattern.seconds) {
          const time = day + ((hour * 60 + minute) * 60 + second) * 1000
          if (time >= low && time < high) shown.push(time)
        }
      }
    }
  }
  return shown
}

interface Pattern {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: readonly number[]
  readonly daysOfMonth: readonly string[]
  readonly daysOfWeek: readonly string[]
  readonly both: boolean
  readonly fixedTime: boolean
}

function readPattern(cron: string): Pattern {
  const fields = cron.split(' ')
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] =
    fields.length === 5 ? ['0', ...fields] : fields
  return {
    seconds: numbersOf(second, 0, 59),
    minutes: numbersOf(minute, 0, 59),
    hours: numbersOf(hour, 0, 23),
    months: numbersOf(month, 1, 12),
    daysOfMonth: dayOfMonth.split(','),
    daysOfWeek: dayOfWeek.replace('+', '').split(','),
    both: dayOfWeek.startsWith('+'),
    fixedTime: ![second, minute, hour].some((field) => field.includes('*') || field.includes('/')),
  }
}

function numbersOf(field: string, min: number, max: number): number[] {
  const numbers = new Set<number>()
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/')
    const [low = '', high = low] = range === '*' ? [String(min), String(max)] : range.split('-')
    for (let number = Number(low); number <= Number(high); number += Number(step)) numbers.add(number)
  }
  return [...numbers].sort((a, b) => a - b)
}

function isMatchingDay(pattern: Pattern, date: Date): boolean {
  if (!pattern.months.includes(date.getUTCMonth() + 1)) return false
  const dayOfMonth = pattern.daysOfMonth.some((part) => isDayOfMonth(part, date))
  const dayOfWeek = pattern.daysOfWeek.some((part) => isDayOfWeek(part, date))
  const anyDayOfMonth = pattern.daysOfMonth.join() === '*'
  const anyDayOfWeek = pattern.daysOfWeek.join() === '*'
  if (pattern.both || anyDayOfMonth || anyDayOfWeek) return dayOfMonth && dayOfWeek
  return dayOfMonth || dayOfWeek
}

function isDayOfMonth(part: string, date: Date): boolean {
  const day = date.getUTCDate()
  const last = lastDayOfMonth(date)
  if (part === 'L') return day === last
  if (part === 'LW') return day === lastWeekday(date, last)
  if (part.endsWith('W')) return day === nearestWeekday(date, Number(part.slice(0, -1)), last)
  return numbersOf(part, 1, 31).includes(day)
}

function isDayOfWeek(part: string, date: Date): boolean {
  const day = date.getUTCDate()
  const [days = '', nth] = part.endsWith('L') ? [part.slice(0, -1).replace('#', ''), 'L'] : part.split('#')
  if (!numbersOf(days, 0, 6).some((weekday) => weekday % 7 === date.getUTCDay())) return false
  if (nth === undefined) return true
  return nth === 'L' ? day + 7 > lastDayOfMonth(date) : Math.ceil(day / 7) === Number(nth)
}

function lastDayOfMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
}

function weekdayOf(date: Date, day: number): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay()
}

function isWorkday(date: Date, day: number): boolean {
  return ![0, 6].includes(weekdayOf(date, day))
}

function lastWeekday(date: Date, last: number): number {
  let day = last
  while (!isWorkday(date, day)) day -= 1
  return day
}

/** The workday next to a day and in the same month; a month without that day has none. */
function nearestWeekday(date: Date, day: number, last: number): number {
  if (day > last) return Number.NaN
  const distances = [0, -1, 1, -2, 2]
  return day + (distances.find((by) => day + by >= 1 && day + by <= last && isWorkday(date, day + by)) ?? Number.NaN)
}
