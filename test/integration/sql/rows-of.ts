import type { ClientBase, Pool, QueryResultRow } from 'pg'

/** All rows of a query. */
export async function rowsOf<Row extends QueryResultRow = QueryResultRow>(
  connection: ClientBase | Pool,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await connection.query<Row>(text, [...values])
  return rows
}

/** The only column of the only row. */
export async function scalarOf<Value = unknown>(
  connection: ClientBase | Pool,
  text: string,
  values: readonly unknown[] = [],
): Promise<Value> {
  const rows = await rowsOf(connection, text, values)
  if (rows.length !== 1) throw new Error(`${rows.length} rows instead of one: ${text}`)
  return Object.values(rows[0] as object)[0] as Value
}
