import { columnsAsText } from '../columns-as-text.js'
import type { Queryable } from '../connection.js'
import { dependsOnKind } from '../rows-as-json.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import { columnKinds } from './column-kinds.js'
import { Insert } from './insert.js'

/** Columns of new tasks; what is not there gets the column's default. */
export type ColumnValues = Readonly<Record<string, unknown>>

/** When new tasks are due. */
export interface EnqueueOptions {
  /** From now, by the database's clock, in milliseconds; sets `planned_to`. */
  readonly delayMs?: number | undefined
}

/**
 * Inserts tasks; returns their ids in the order of the rows. Whatever the route, a value means the same: PostgreSQL reads it by
 * the column's own type, an array as a JSON array for a json column and as a PostgreSQL array for an array column.
 *
 * Plain values go as they are, one array per column where there are several rows; what only JSON can carry makes all rows of
 * its statement travel as one JSON parameter, which takes twice the time.
 */
export async function enqueueMany(
  connection: Queryable,
  type: TaskTypeName,
  rows: readonly ColumnValues[],
  options: EnqueueOptions = {},
): Promise<string[]> {
  const table = tableOf(type)
  let ids: string[] = []
  for (const { columns, rows: alike } of sameColumns(rows)) {
    const ask = alike.length > 1 || alike.some(dependsOnKind)
    const kinds = columns.length === 0 ? undefined : await columnKinds(connection, table, ask)
    const texts = kinds === undefined ? undefined : columnsAsText(alike, columns, kinds)
    const insert = new Insert(table, columns, options.delayMs)
    if (columns.length === 0) insert.defaults(alike.length)
    else if (texts === undefined) insert.json(alike, kinds)
    else if (alike.length === 1) insert.values(texts)
    else insert.arrays(texts)
    const result = await connection.query(insert.text, insert.parameters)
    const inserted = insert.idsOf(result.rows)
    ids = ids.length === 0 ? inserted : ids.concat(inserted)
  }
  return ids
}

interface RunOfRows {
  readonly columns: readonly string[]
  readonly rows: ColumnValues[]
}

/** Neighbours with the same columns go into one statement; the order of the rows stays. */
function sameColumns(rows: readonly ColumnValues[]): RunOfRows[] {
  const runs: RunOfRows[] = []
  let key: string | undefined
  for (const row of rows) {
    const columns = Object.keys(row).filter((column) => row[column] !== undefined)
    const own = columns.toSorted().join('\u0000')
    if (own === key) {
      runs.at(-1)?.rows.push(row)
    } else {
      runs.push({ columns, rows: [row] })
      key = own
    }
  }
  return runs
}
