import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'
import { rowsAsJson } from '../rows-as-json.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'

/** Columns of new tasks; what is not there gets the column's default. */
export type ColumnValues = Readonly<Record<string, unknown>>

/** When new tasks are due. */
export interface EnqueueOptions {
  /** From now, by the database's clock, in milliseconds; sets `planned_to`. */
  readonly delayMs?: number | undefined
}

/**
 * Inserts tasks; returns their ids in the order of the rows.
 *
 * All rows travel as one JSON parameter, which PostgreSQL reads by the table's own column types: an array means a JSON array
 * for a json column and a PostgreSQL array for an array column, and a bulk is one statement.
 */
export async function enqueueMany(
  connection: Queryable,
  type: TaskTypeName,
  rows: readonly ColumnValues[],
  options: EnqueueOptions = {},
): Promise<string[]> {
  const ids: string[] = []
  for (const run of sameColumns(rows)) {
    ids.push(...(await insert(connection, type, run, options.delayMs)))
  }
  return ids
}

async function insert(
  connection: Queryable,
  type: TaskTypeName,
  { columns, rows }: RunOfRows,
  delayMs: number | undefined,
): Promise<string[]> {
  const table = tableOf(type)
  const names = columns.map(quoteIdentifier)
  const sources = names.map((name) => `r.${name}`)
  const values: unknown[] = [rowsAsJson(rows)]
  if (delayMs !== undefined) {
    names.push('planned_to')
    sources.push('tasks.clock() + make_interval(secs => $2::double precision / 1000)')
    values.push(delayMs)
  }
  const text =
    names.length === 0
      ? `insert into ${table} (id) values ${rows.map(() => '(default)').join(', ')} returning id::text as id`
      : `insert into ${table} (${names.join(', ')})
         select ${sources.join(', ')} from json_populate_recordset(null::${table}, $1::json) r
         returning id::text as id`
  const inserted = await connection.query(text, names.length === 0 ? [] : values)
  return (inserted.rows as Array<{ id: string }>).map((row) => row.id)
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
