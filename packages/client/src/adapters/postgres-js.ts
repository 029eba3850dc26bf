import type { Queryable, QueryResult } from '@pg-tasks/sql'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { parameterText } from './parameter-text.js'
import { type PostgresJsRows, readDates } from './read-dates.js'

/** The part of a `Sql` or `TransactionSql` of postgres.js that is used here. */
export interface PostgresJsLike {
  // biome-ignore lint/suspicious/noExplicitAny: what it takes and gives has type parameters of its own
  unsafe(query: string, parameters?: any[]): PromiseLike<any>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  typed(value: any, type: number): unknown
  readonly options?: { readonly transform?: Partial<Record<'column' | 'value' | 'row', { readonly from?: unknown }>> }
}

/** PostgreSQL's type "unknown": the parameter's type is inferred, and postgres.js sends the text as it is. */
const UNKNOWN = 705

const made = new WeakMap<PostgresJsLike, Queryable>()

/**
 * Makes a connection of a postgres.js `sql` or transaction, for `Task` and all that takes a connection. Parameters travel as
 * node-postgres sends them, so that a value means the same through both; rows are as the `sql` reads them.
 *
 * @throws InvalidArgumentError if it is no `sql`, or transforms names or values of what it reads: then the columns that tasks
 * live by would not be found
 *
 * @example
 * await sql.begin(async (tx) => {
 *   await tx`update shop.orders set invoiced = true where id = ${task.order_id}`
 *   await sendInvoice.finish(fromPostgresJs(tx), task)
 * })
 */
export function fromPostgresJs(sql: PostgresJsLike): Queryable {
  const given = sql as Partial<PostgresJsLike> | null | undefined
  if (typeof given?.unsafe !== 'function' || typeof given.typed !== 'function') {
    throw new InvalidArgumentError('sql', 'must be what postgres() gave, or the transaction that sql.begin passes on.')
  }
  const known = made.get(sql)
  if (known !== undefined) return known
  refuseTransforms(sql)
  const queryable: Queryable = { query: (text, values = []) => query(sql, text, values) }
  made.set(sql, queryable)
  return queryable
}

async function query(sql: PostgresJsLike, text: string, values: readonly unknown[]): Promise<QueryResult> {
  const parameters = values.map((value) => sql.typed(parameterText(value), UNKNOWN))
  const result = (await (values.length === 0 ? sql.unsafe(text) : sql.unsafe(text, parameters))) as
    | PostgresJsRows
    | readonly PostgresJsRows[]
  const rows = lastOf(result)
  return { rows: readDates(rows), rowCount: rows.count ?? null }
}

/** Several statements in one text give an array of results. */
function lastOf(result: PostgresJsRows | readonly PostgresJsRows[]): PostgresJsRows {
  const last = result.at(-1)
  return Array.isArray(last) ? (last as unknown as PostgresJsRows) : (result as PostgresJsRows)
}

function refuseTransforms({ options }: PostgresJsLike): void {
  const { column, value, row } = options?.transform ?? {}
  if (column?.from === undefined && value?.from === undefined && row?.from === undefined) return
  const problem = 'transforms the names or values of what it reads; give one that was made without `transform`.'
  throw new InvalidArgumentError('sql', problem)
}
