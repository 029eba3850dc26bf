import type { Queryable } from '../connection.js'

/** A task type as the registry knows it; durations in milliseconds. */
export interface TypeDescription {
  /** The table's oid: second key of the type's advisory locks, first word of control notifications. */
  readonly tableId: string
  readonly schema: string
  readonly table: string
  readonly functionName: string
  /** Length of the lease; null: tasks of a dead worker never come back. */
  readonly timeoutMs: number | null
  readonly maxRetries: number | null
  /** How long ended tasks are kept; 0: deleted at finish; null: for ever. */
  readonly storageMs: number | null
  readonly notify: boolean
  readonly runLimitMs: number | null
  /** Whether a limit decides how many of its tasks may be acquired. */
  readonly limited: boolean
  /** Whether row level security decides which of its rows this connection's role sees. */
  readonly rowSecurity: boolean
}

const COLUMNS = `table_id::text as "tableId", schema_name as "schema", table_name as "table", function_name as "functionName",
  timeout_ms as "timeoutMs", max_retries as "maxRetries", storage_ms as "storageMs", notify, run_limit_ms as "runLimitMs",
  (select y.limited from tasks.types y where y.table_id = described.table_id::oid) as "limited",
  pg_catalog.row_security_active(table_id::oid) as "rowSecurity"`

/** Looks a task type up by its table's name; undefined if it isn't registered. */
export async function describeType(
  connection: Queryable,
  schema: string,
  table: string,
): Promise<TypeDescription | undefined> {
  const result = await connection.query(`select ${COLUMNS} from tasks.describe($1::text, $2::text) as described`, [
    schema,
    table,
  ])
  return result.rows[0] as TypeDescription | undefined
}

/** Looks a task type up by its table, whatever its name is today; undefined if it is gone, or not registered any more. */
export async function describeTypeOfTable(
  connection: Queryable,
  tableId: string,
): Promise<TypeDescription | undefined> {
  const result = await connection.query(
    `select ${COLUMNS} from pg_catalog.pg_class c
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     cross join lateral tasks.describe(n.nspname::text, c.relname::text) as described
     where c.oid = $1::oid`,
    [tableId],
  )
  return result.rows[0] as TypeDescription | undefined
}
