import { UsageError } from '../cli-error.js'

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
}

const PART = /\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy

/** `90s`, `1h 30m`, `2 days` in milliseconds. @throws UsageError */
export function parseDuration(text: string): number {
  PART.lastIndex = 0
  let ms = 0
  while (PART.lastIndex < text.length) {
    const [, number, name = ''] = PART.exec(text.toLowerCase()) ?? []
    const unit = UNITS[name] ?? UNITS[name.replace(/s$/, '')]
    if (number === undefined || unit === undefined) throw notADuration(text)
    ms += Number(number) * unit
  }
  if (text.trim() === '') throw notADuration(text)
  return ms
}

function notADuration(text: string): UsageError {
  return new UsageError(`"${text}" is no duration.`, 'Write 30s, 5m, 1h 30m, 2d or 4 weeks.')
}
