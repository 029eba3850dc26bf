import { Cron, CronPattern } from 'croner'
import { refuse } from './refuse.js'

/** A cron expression that was understood. */
export interface ParsedPattern {
  /** Five or six fields, nicknames expanded. */
  readonly pattern: string

  /** True if seconds, minutes and hours have no wildcard and no step: such a time is due once on every matching day. */
  readonly fixedTime: boolean
}

/** Steps through the matches of a pattern; instants in and out, in milliseconds, whole seconds out. */
export interface PatternStepper {
  next(after: number): number | null
  previous(before: number): number | null
}

const OPTIONS = { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' } as const

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

const FIELDS = [
  { name: 'second', allowed: '0-59' },
  { name: 'minute', allowed: '0-59' },
  { name: 'hour', allowed: '0-23' },
  { name: 'day-of-month', allowed: '1-31, L (last day), 15W (nearest weekday) or LW' },
  { name: 'month', allowed: '1-12 or JAN-DEC' },
  { name: 'day-of-week', allowed: '0-7 or SUN-SAT, 5#2 (second Friday), 5L (last Friday)' },
] as const

/**
 * Reads a cron expression, and refuses what is not one with the guilty field named.
 *
 * Five fields, or six with seconds first; `@hourly @daily @midnight @weekly @monthly @yearly`. When day-of-month and
 * day-of-week are both given, either suffices, unless day-of-week begins with `+`: `0 0 13 * +5` is Friday 13th.
 *
 * @throws InvalidOptionError for the option `cron`.
 */
export function parsePattern(cron: unknown): ParsedPattern {
  if (typeof cron !== 'string') refuse('cron', cron, 'give a string')
  const pattern = expandNickname(cron)
  const fields = splitFields(cron, pattern)
  try {
    return { pattern, fixedTime: parse(pattern).isFixedTime }
  } catch (cause) {
    refuse('cron', cron, describeFault(fields), { cause })
  }
}

/**
 * The only place that builds a croner object, because its defaults are traps: without a time zone it takes the
 * process's, a string with a colon is read as a date, and the default rule for fixed times runs `30 1,2 * * *` twice
 * in autumn.
 */
export function stepperOf(pattern: string, timezone: string): PatternStepper {
  const cron = new Cron(pattern, { ...OPTIONS, timezone })
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    previous: (before) => cron.previousRuns(1, new Date(before))[0]?.getTime() ?? null,
  }
}

function expandNickname(cron: string): string {
  const word = cron.trim().toLowerCase()
  if (!word.startsWith('@')) return cron.trim()
  const pattern = NICKNAMES.get(word)
  if (pattern !== undefined) return pattern
  const remedy = word.startsWith('@every')
    ? 'use everyMs for a fixed interval'
    : `the nicknames are ${[...NICKNAMES.keys()].join(' ')}`
  refuse('cron', cron, `${word.split(/\s/)[0]} is not supported: ${remedy}`)
}

/** Six fields, the seconds added where there are five. */
function splitFields(cron: string, pattern: string): string[] {
  // croner takes any string with a colon for an ISO date, in every mode, and would run it once.
  if (pattern.includes(':')) refuse('cron', cron, 'a date is not a cron expression: enqueue one task with plannedTo')
  if (/^(CRON_)?TZ=/i.test(pattern)) refuse('cron', cron, 'the zone belongs into the option "timezone"')
  const fields = pattern.split(/\s+/).filter((field) => field !== '')
  if (fields.length === 5) return ['0', ...fields]
  if (fields.length === 6) return fields
  const remedy =
    fields.length === 7
      ? 'years are not supported: use startsAt and endsAt'
      : 'minute hour day-of-month month day-of-week, and seconds before them if needed'
  refuse('cron', cron, `has ${fields.length} fields instead of 5 or 6: ${remedy}`)
}

function parse(pattern: string): CronPattern {
  return new CronPattern(pattern, 'UTC', OPTIONS)
}

function isPattern(pattern: string): boolean {
  try {
    parse(pattern)
    return true
  } catch {
    return false
  }
}

/** Not every message of croner names the field, so each is tried alone among wildcards. */
function describeFault(fields: readonly string[]): string {
  const guilty = fields.findIndex(
    (field, index) => !isPattern(fields.map((_, at) => (at === index ? field : '*')).join(' ')),
  )
  const field = FIELDS[guilty]
  if (field === undefined) return 'is not a cron expression'
  return `the ${field.name} field is "${fields[guilty]}"; allowed are ${field.allowed}, lists (a,b), ranges (a-b) and steps (*/n or a-b/n)`
}
