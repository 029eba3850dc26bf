/**
 * Rows of columns as JSON that PostgreSQL reads by the columns' own types: an array means a JSON array for a json column and a
 * PostgreSQL array for an array column. A column that is `undefined` is left out.
 */
export function rowsAsJson(rows: readonly Row[]): string {
  return JSON.stringify(rows.map(withText), bigintAsText)
}

/** One row, as {@link rowsAsJson} writes it. */
export function rowAsJson(row: Row): string {
  return JSON.stringify(withText(row), bigintAsText)
}

type Row = Readonly<Record<string, unknown>>

function withText(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, columnValue(value)]))
}

/** What JSON has no word for, as PostgreSQL reads it from text. Only the columns themselves: inside a json column a Date is what JSON makes of it. */
export function columnValue(value: unknown): unknown {
  if (value instanceof Date) return localTimestamp(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value instanceof Uint8Array) {
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
  }
  return value
}

export function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** Local time with its offset: exact for timestamptz, and the same calendar day for a date column. */
function localTimestamp(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new RangeError('A Date in the columns of a task is invalid.')
  const two = (part: number): string => String(part).padStart(2, '0')
  const offset = offsetSeconds(date)
  const [hours, minutes, seconds] = [offset / 3600, (offset / 60) % 60, offset % 60].map((part) =>
    two(Math.floor(Math.abs(part))),
  )
  const zone = `${offset < 0 ? '-' : '+'}${hours}:${minutes}${seconds === '00' ? '' : `:${seconds}`}`
  const year = date.getFullYear()
  const day = `${String(year > 0 ? year : 1 - year).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
  return `${day} ${time}${zone}${year > 0 ? '' : ' BC'}`
}

/** To the second, which `getTimezoneOffset` isn't: before there was a standard time, zones had the time of their sun. */
function offsetSeconds(date: Date): number {
  const local = new Date(0)
  local.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate())
  local.setUTCHours(date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds())
  return Math.round((local.getTime() - date.getTime()) / 1000)
}
