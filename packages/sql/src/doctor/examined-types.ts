import type { Queryable } from '../connection.js'

/** A registered type as the checks need it. */
export interface ExaminedType {
  readonly tableId: string
  readonly schema: string
  readonly table: string
  /** Schema and table, quoted where they must be, as SQL and messages take it. */
  readonly name: string
  readonly functionName: string
  readonly notify: boolean
  readonly timeoutMs: number | null
  readonly paused: boolean
  /** Whether the caller may read the table, and it has the columns to be asked for; what it lacks is a finding of its own. */
  readonly readable: boolean
}

/** The registered types whose table is there, by name. */
export async function examinedTypes(connection: Queryable): Promise<ExaminedType[]> {
  const { rows } = await connection.query(
    `select y.table_id::oid::text as "tableId", n.nspname::text as schema, c.relname::text as "table",
       tasks.quoted(y.table_id) as name, y.function_name as "functionName", y.notify,
       1000 * date_part('epoch', y.timeout) as "timeoutMs", y.paused_at is not null as paused,
       has_table_privilege(c.oid, 'select') and has_schema_privilege(n.oid, 'usage')
         and not exists (select from tasks.check_table(y.table_id) c where not c.safe) as readable
     from tasks.types y
     join pg_catalog.pg_class c on c.oid = y.table_id
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     order by 2, 3`,
  )
  return rows as ExaminedType[]
}
