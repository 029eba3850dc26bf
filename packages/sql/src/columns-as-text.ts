import { bigintAsText, columnValue, isPromise } from './rows-as-json.js'
import type { ColumnKinds } from './statements/column-kinds.js'

type Row = Readonly<Record<string, unknown>>

/** Values of one column, row by row, as the text that PostgreSQL reads for the column's type. */
export type TextColumn = ReadonlyArray<string | null>

/** Rows as columns of text; undefined if there is a value that only JSON carries: an array, an object, an unknown column. */
export function columnsAsText(
  rows: readonly Row[],
  columns: readonly string[],
  kinds: ColumnKinds,
): TextColumn[] | undefined {
  const texts: TextColumn[] = []
  for (const column of columns) {
    const kind = kinds.get(column)
    if (kind === undefined || kind === 'other' || kind === 'json_array') return undefined
    const text: Array<string | null> = []
    for (const row of rows) {
      const value = textOf(row[column], kind)
      if (value === undefined) return undefined
      text.push(value)
    }
    texts.push(text)
  }
  return texts
}

/** A column as the text of a PostgreSQL array. */
export function arrayLiteral(texts: TextColumn): string {
  return `{${texts.map(arrayElement).join(',')}}`
}

function textOf(value: unknown, kind: 'scalar' | 'json'): string | null | undefined {
  if (value === null) return null
  // The other route tells what is wrong with it.
  if (isPromise(value) || (value instanceof Date && Number.isNaN(value.getTime()))) return undefined
  const plain = columnValue(value)
  if (kind === 'json') return JSON.stringify(plain, bigintAsText)
  switch (typeof plain) {
    case 'string':
      return plain
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(plain)
    default:
      return undefined
  }
}

function arrayElement(text: string | null): string {
  if (text === null) return 'NULL'
  return `"${SPECIAL.test(text) ? text.replaceAll(ALL_SPECIAL, '\\$&') : text}"`
}

const SPECIAL = /["\\]/
const ALL_SPECIAL = /["\\]/g
