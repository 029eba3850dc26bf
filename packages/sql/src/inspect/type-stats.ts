import type { Queryable } from '../connection.js'
import type { TaskState } from '../template-row.js'

/** Tasks of a type per state, and who works at them. */
export interface TypeStats extends Readonly<Record<TaskState, number>> {
  readonly schema: string
  readonly table: string
  readonly total: number
  readonly paused: boolean
  /** Workers that hold tasks of the type now, by their lease; one that waits for tasks has none and isn't counted. */
  readonly workers: number
}

/** Statistics of all types whose table the caller can read, by name. It reads the tables whole. */
export async function typeStats(connection: Queryable): Promise<TypeStats[]> {
  const { rows } = await connection.query(
    `select s.schema_name as schema, s.table_name as "table", ${COUNTS}, y.paused_at is not null as paused,
       (select count(*)::integer from tasks.leases l where l.table_id = y.table_id and l.leased_until > tasks.clock()) as workers
     from tasks.stats s
     join pg_catalog.pg_namespace n on n.nspname = s.schema_name
     join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = s.table_name
     join tasks.types y on y.table_id = c.oid
     order by 1, 2`,
  )
  return rows as TypeStats[]
}

const COUNTS = ['total', 'scheduled', 'ready', 'running', 'finished', 'failed', 'canceled']
  .map((state) => `s.${state}::double precision as ${state}`)
  .join(', ')
