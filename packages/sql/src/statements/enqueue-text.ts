import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { EnqueueOptions } from './enqueue.js'

/**
 * Inserts one task whose values are written as PostgreSQL reads them, whatever the column's type: `{1,2}` for an array, `{"a":1}`
 * for a json column; null is NULL. Returns its id.
 */
export async function enqueueText(
  connection: Queryable,
  type: TaskTypeName,
  columns: Readonly<Record<string, string | null>>,
  options: EnqueueOptions = {},
): Promise<string> {
  const names = Object.keys(columns).map(quoteIdentifier)
  const values: unknown[] = Object.values(columns)
  const places = values.map((_, index) => `$${index + 1}`)
  if (options.delayMs !== undefined) {
    names.push('planned_to')
    places.push(`tasks.clock() + make_interval(secs => $${values.push(options.delayMs)}::double precision / 1000)`)
  }
  const what = names.length === 0 ? 'default values' : `(${names.join(', ')}) values (${places.join(', ')})`
  const { rows } = await connection.query(`insert into ${tableOf(type)} ${what} returning id::text as id`, values)
  return (rows[0] as { id: string }).id
}

/** The statement that takes tasks as a CSV stream with a head, for a driver that can send one. */
export function copyFromCsv(type: TaskTypeName, columns: readonly string[]): string {
  return `copy ${tableOf(type)} (${columns.map(quoteIdentifier).join(', ')}) from stdin with (format csv, header true)`
}
