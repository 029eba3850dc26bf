import type { Count, TaskFilter } from '@pg-tasks/sql'
import type { Say } from './i18n/use-text.js'
import type { Zone } from './state/preferences.js'

/** A number, short where it is estimated. */
export function formatCount({ count, about }: Count, language: string): string {
  if (!about) return count.toLocaleString(language)
  return new Intl.NumberFormat(language, { notation: 'compact', maximumSignificantDigits: 3 }).format(count)
}

const UNITS = {
  en: { ms: 'ms', s: 's', min: 'min', h: 'h', d: 'd' },
  ru: { ms: 'мс', s: 'с', min: 'мин', h: 'ч', d: 'д' },
} as const

/** A duration in its two largest units. */
export function formatDuration(ms: number | null, language: 'en' | 'ru'): string {
  if (ms === null) return '–'
  const units = UNITS[language]
  const size = Math.abs(ms)
  if (size === 0) return '0'
  if (size < 1) return `<1 ${units.ms}`
  if (size < 1_000) return `${Math.round(ms)} ${units.ms}`
  if (size < 60_000) return `${(ms / 1_000).toLocaleString(language, { maximumSignificantDigits: 3 })} ${units.s}`
  const pair = (large: number, small: number, names: readonly [string, string]): string => {
    const whole = Math.trunc(ms / large)
    const rest = Math.floor(Math.abs(ms % large) / small)
    return rest === 0 ? `${whole} ${names[0]}` : `${whole} ${names[0]} ${rest} ${names[1]}`
  }
  if (size < 3_600_000) return pair(60_000, 1_000, [units.min, units.s])
  if (size < 86_400_000) return pair(3_600_000, 60_000, [units.h, units.min])
  return pair(86_400_000, 3_600_000, [units.d, units.h])
}

/** A time as PostgreSQL writes it in UTC, or as JSON does. */
export function parseTime(text: string): Date | undefined {
  const date = new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** Date and time, sortable, in the chosen zone. */
export function formatTime(date: Date, zone: Zone): string {
  const shifted = zone === 'utc' ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 19).replace('T', ' ')
}

/** Words of a filter. */
export function formatFilter({ column, operator, value }: TaskFilter, say: Say): string {
  return operator === 'empty' || operator === 'given'
    ? `${column} ${say(operator)}`
    : `${column} ${say(operator)} ${value ?? ''}`
}

/** The beginning of a worker's id, which is enough to tell it from others. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}
