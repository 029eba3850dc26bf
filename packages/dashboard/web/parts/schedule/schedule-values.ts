import type { ShownColumn } from '../../../server/column-rules.js'
import type { FieldValues } from '../task/column-fields.js'

/** Values of a schedule's columns as fields show them. */
export function textValues(columns: Readonly<Record<string, unknown>>): FieldValues {
  const given = Object.entries(columns).filter(([, value]) => value !== null && value !== '•••')
  return Object.fromEntries(
    given.map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  )
}

/** Fields as a schedule stores them: JSON, read by each column's type when it enqueues. */
export function jsonValues(values: FieldValues, columns: readonly ShownColumn[]): Record<string, unknown> {
  const known = new Map(columns.map((column) => [column.name, column]))
  const given = Object.entries(values).filter(([name, value]) => value !== '' && known.has(name))
  return Object.fromEntries(given.map(([name, value]) => [name, parsed(value, known.get(name)?.family)]))
}

function parsed(value: string, family: ShownColumn['family'] | undefined): unknown {
  if (family !== 'json' && family !== 'array') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
