/** A duration in two units at most: `1.5 s`, `3 m 20 s`, `2 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(ms / 1_000)
  for (const [name, size, smaller, smallerSize] of UNITS) {
    if (seconds < size) continue
    const rest = Math.floor((seconds % size) / smallerSize)
    return rest === 0
      ? `${Math.floor(seconds / size)} ${name}`
      : `${Math.floor(seconds / size)} ${name} ${rest} ${smaller}`
  }
  return `${seconds} s`
}

const UNITS = [
  ['d', 86_400, 'h', 3_600],
  ['h', 3_600, 'm', 60],
  ['m', 60, 's', 1],
] as const

/** A number with separators: `1,234,567`. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US')
}

/** An instant in local time, to the second, with the offset, which a reader of a log needs. */
export function formatInstant(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0')
  const offset = -date.getTimezoneOffset()
  const zone =
    offset === 0
      ? 'Z'
      : `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${zone}`
}

/** Any column's value on one line. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : formatInstant(value)
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Bytes for people. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
