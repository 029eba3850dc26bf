import type { ColumnDescription } from '@pg-tasks/sql'

/** How node-postgres reads a value with its default parsers, and what it takes. */
interface ValueTypes {
  readonly read: string
  /** @defaultValue as it is read */
  readonly write?: string
}

const DATE: ValueTypes = { read: 'Date', write: 'Date | string' }
const BIGINT: ValueTypes = { read: 'string', write: 'string | number | bigint' }
const NUMERIC: ValueTypes = { read: 'string', write: 'string | number' }
const JSON_VALUE: ValueTypes = { read: 'unknown' }

const TYPES: Readonly<Record<string, ValueTypes>> = {
  bool: { read: 'boolean' },
  int2: { read: 'number' },
  int4: { read: 'number' },
  oid: { read: 'number' },
  float4: { read: 'number' },
  float8: { read: 'number' },
  int8: BIGINT,
  numeric: NUMERIC,
  date: DATE,
  timestamp: DATE,
  timestamptz: DATE,
  json: JSON_VALUE,
  jsonb: JSON_VALUE,
  bytea: { read: 'Buffer' },
  interval: { read: 'unknown', write: 'string' },
  point: { read: 'unknown', write: 'string' },
}

/** All others come as text: text, varchar, uuid, inet, ranges, money, xml … */
const TEXT: ValueTypes = { read: 'string' }

/** The type of a value that was read. */
export function readType(column: ColumnDescription): string {
  return withNull(inArray(valueTypes(column).read, column), column)
}

/** The type of a value that is written, without NULL. */
export function writeType(column: ColumnDescription): string {
  const { read, write = read } = valueTypes(column)
  return inArray(write, column)
}

function valueTypes({ baseType, labels, isArray }: ColumnDescription): ValueTypes {
  // An array of an enum comes as text: node-postgres doesn't know its type.
  if (labels !== null)
    return isArray ? TEXT : { read: labels.map((label) => `'${label.replaceAll("'", "\\'")}'`).join(' | ') }
  return TYPES[baseType] ?? TEXT
}

function inArray(type: string, { isArray, labels }: ColumnDescription): string {
  if (!isArray || labels !== null) return type
  return type.includes(' ') ? `Array<${type}>` : `${type}[]`
}

function withNull(type: string, { nullable }: ColumnDescription): string {
  return nullable && type !== 'unknown' ? `${type} | null` : type
}
