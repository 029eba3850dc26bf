import type { Queryable } from '../connection.js'
import { dependsOnKind, rowAsJson, rowsAsJson } from '../rows-as-json.js'
import { columnKinds } from './column-kinds.js'

type Row = Readonly<Record<string, unknown>>

/** Rows of a table as JSON; the database is asked for the kinds of the columns only where a value depends on them. */
export async function jsonOfRows(connection: Queryable, table: string, rows: readonly Row[]): Promise<string> {
  return rowsAsJson(rows, rows.some(dependsOnKind) ? await columnKinds(connection, table, true) : undefined)
}

/** One row, as {@link jsonOfRows} writes it. */
export async function jsonOfRow(connection: Queryable, table: string, row: Row): Promise<string> {
  return rowAsJson(row, dependsOnKind(row) ? await columnKinds(connection, table, true) : undefined)
}
