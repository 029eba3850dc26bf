import { PgTasksSqlError } from './errors.js'
import type { ColumnKinds } from './statements/column-kinds.js'

/**
 * Rows of columns as JSON that PostgreSQL reads by the columns' own types: an array means a JSON array for a json column and a
 * PostgreSQL array for an array column. A column that is `undefined` is left out.
 *
 * @param kinds - of the table's columns, where {@link dependsOnKind}
 */
export function rowsAsJson(rows: readonly Row[], kinds?: ColumnKinds): string {
  return JSON.stringify(
    rows.map((row) => withText(row, kinds)),
    bigintAsText,
  )
}

/** One row, as {@link rowsAsJson} writes it. */
export function rowAsJson(row: Row, kinds?: ColumnKinds): string {
  return JSON.stringify(withText(row, kinds), bigintAsText)
}

type Row = Readonly<Record<string, unknown>>

/**
 * Whether a row holds, within an array or an object, what JSON has no word for: in an array of dates it is written as PostgreSQL
 * reads it, in a json column as JSON has it.
 */
export function dependsOnKind(row: Row): boolean {
  return Object.values(row).some((value) => holdsMore(value) && Object.values(value).some(isOrHoldsText))
}

function isOrHoldsText(value: unknown): boolean {
  if (holdsMore(value)) return Object.values(value).some(isOrHoldsText)
  return value instanceof Date || value instanceof Uint8Array || (typeof value === 'number' && !Number.isFinite(value))
}

function holdsMore(value: unknown): value is object {
  if (Array.isArray(value)) return true
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function withText(row: Row, kinds: ColumnKinds | undefined): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => {
      refuseUnusable(column, value)
      return [column, kinds?.get(column) === 'other' ? partsAsText(value) : columnValue(value)]
    }),
  )
}

/** What would be stored as something that nobody meant: `{}`, or NULL. */
function refuseUnusable(column: string, value: unknown): void {
  const kind = unusable(value)
  if (kind === undefined) return
  throw new PgTasksSqlError('INVALID_ARGUMENT', `The column "${column}" of a task is ${kind}.`)
}

function unusable(value: unknown): string | undefined {
  if (typeof value === 'function') return 'given a function: should it be called?'
  if (typeof value === 'symbol') return 'given a symbol'
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'given an invalid Date'
  if (isPromise(value)) return 'given a promise: is an await missing?'
  return undefined
}

/** Whether it is a value to be awaited. */
export function isPromise(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** The elements of an array, the fields of a row type. */
function partsAsText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(partsAsText)
  if (!holdsMore(value)) return columnValue(value)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, partsAsText(part)]))
}

/** What JSON has no word for, as PostgreSQL reads it from text. Inside a json column a Date is what JSON makes of it. */
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
