import { refuse } from './refuse.js'

/**
 * Refuses everything that isn't the name of a zone with rules for its clocks: `Area/City`, or `UTC`.
 *
 * Offsets (`UTC+3`, `+03:00`) have no summer time, and abbreviations (`CST`, `EST`) mean several places; a schedule
 * that is written with one would silently run at another hour for half of the year.
 *
 * @throws InvalidOptionError for the option `timezone`.
 */
export function checkTimezone(timezone: unknown): asserts timezone is string {
  const remedy = 'use an IANA name such as Europe/Berlin, or UTC'
  if (typeof timezone !== 'string') refuse('timezone', timezone, `must be a string: ${remedy}`)
  if (timezone !== 'UTC' && !timezone.includes('/')) {
    refuse('timezone', timezone, `offsets and abbreviations are not accepted: ${remedy}`)
  }
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: timezone })
  } catch (cause) {
    refuse('timezone', timezone, `this process knows no such zone: ${remedy}`, { cause })
  }
}

/**
 * The release of the time zone database that this process computes with, such as `2025c`; null where Node doesn't know.
 *
 * Stored beside the next occurrence of a schedule in a zone: where it is an older one, that occurrence was computed with other
 * rules and has to be planned again.
 */
export function tzdataVersion(): string | null {
  return process.versions.tz ?? null
}
