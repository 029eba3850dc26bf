import type { Queryable } from '../connection.js'
import { milliseconds } from '../schedules/schedule-row.js'

/** A registered type with all its settings; durations in milliseconds, null where there is no limit. */
export interface RegisteredType {
  readonly schema: string
  readonly table: string
  readonly functionName: string
  /** Whether the table is still there. */
  readonly there: boolean
  readonly timeoutMs: number | null
  readonly maxRetries: number | null
  readonly storageMs: number | null
  readonly notify: boolean
  readonly backoffBaseMs: number
  readonly backoffMaxMs: number
  readonly runLimitMs: number | null
  readonly pausedAt: Date | null
  readonly pausedReason: string | null
  readonly concurrency: number | null
  readonly rateCount: number | null
  readonly rateIntervalMs: number | null
  readonly keyColumns: string[] | null
  readonly onFailure: string | null
  readonly historyMs: number | null
  /** Workers that hold tasks of the type now, by their lease; one that waits for tasks has none and isn't counted. */
  readonly workers: number
}

/** All registered types, by name. */
export async function listTypes(connection: Queryable): Promise<RegisteredType[]> {
  const { rows } = await connection.query(
    `select coalesce(n.nspname::text, y.schema_name) as schema, coalesce(c.relname::text, y.table_name) as "table",
       y.function_name as "functionName", c.oid is not null as there, ${milliseconds('y.timeout')} as "timeoutMs",
       y.max_retries as "maxRetries", ${milliseconds('y.storage_time')} as "storageMs", y.notify,
       ${milliseconds('y.backoff_base')} as "backoffBaseMs", ${milliseconds('y.backoff_max')} as "backoffMaxMs",
       ${milliseconds('y.run_limit')} as "runLimitMs", y.paused_at as "pausedAt", y.paused_reason as "pausedReason", y.concurrency,
       y.rate_count as "rateCount", ${milliseconds('y.rate_interval')} as "rateIntervalMs",
       coalesce(tasks.columns_of_key(y), y.key_columns) as "keyColumns",
       tasks.quoted(y.on_failure) as "onFailure", ${milliseconds('y.history_time')} as "historyMs",
       (select count(*)::integer from tasks.leases l where l.table_id = y.table_id and l.leased_until > tasks.clock()) as workers
     from tasks.types y
     left join pg_catalog.pg_class c on c.oid = y.table_id
     left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     order by 1, 2`,
  )
  return rows as RegisteredType[]
}
