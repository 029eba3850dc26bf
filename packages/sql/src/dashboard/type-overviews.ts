import type { Queryable } from '../connection.js'

/** A task type and its settings, as far as pages show them; durations in milliseconds. */
export interface TypeOverview {
  readonly tableId: string
  readonly schema: string
  readonly table: string
  readonly functionName: string
  readonly timeoutMs: number | null
  readonly maxRetries: number | null
  /** How long ended tasks are kept; 0: deleted at finish; null: for ever. */
  readonly storageMs: number | null
  readonly notify: boolean
  readonly backoffBaseMs: number
  readonly backoffMaxMs: number
  readonly runLimitMs: number | null
  readonly historyMs: number | null
  readonly pausedAt: string | null
  readonly pausedReason: string | null
  readonly concurrency: number | null
  readonly rateCount: number | null
  readonly ratePerMs: number | null
  readonly rateBurst: number | null
  readonly keyColumns: readonly string[] | null
  readonly keyConcurrency: number | null
  readonly keyOnRetry: 'block' | 'step_aside' | null
  /** The type to which failed tasks are passed on. */
  readonly onFailure: string | null
  /** Whether this session may read, and may change, the table's rows. */
  readonly mayRead: boolean
  readonly mayWrite: boolean
}

const ms = (interval: string): string => `round(1000 * extract(epoch from ${interval}))::double precision`

/** All task types whose table is there, by name; or the one of this name. */
export async function typeOverviews(
  connection: Queryable,
  only?: { readonly schema: string; readonly table: string },
): Promise<TypeOverview[]> {
  const result = await connection.query(
    `select y.table_id::oid::text as "tableId", n.nspname::text as "schema", c.relname::text as "table", y.function_name as "functionName",
       ${ms('y.timeout')} as "timeoutMs", y.max_retries as "maxRetries", ${ms('y.storage_time')} as "storageMs", y.notify,
       ${ms('y.backoff_base')} as "backoffBaseMs", ${ms('y.backoff_max')} as "backoffMaxMs", ${ms('y.run_limit')} as "runLimitMs",
       ${ms('y.history_time')} as "historyMs", y.paused_at::text as "pausedAt", y.paused_reason as "pausedReason", y.concurrency,
       y.rate_count as "rateCount", ${ms('y.rate_interval')} as "ratePerMs", y.rate_burst as "rateBurst",
       coalesce(tasks.columns_of_key(y), y.key_columns) as "keyColumns",
       y.key_concurrency as "keyConcurrency", y.key_on_retry as "keyOnRetry", tasks.quoted(y.on_failure) as "onFailure",
       has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as "mayRead",
       has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'update') as "mayWrite"
     from tasks.types y
     join pg_catalog.pg_class c on c.oid = y.table_id
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where $1::text is null or n.nspname = $1::text and c.relname = $2::text
     order by n.nspname, c.relname`,
    [only?.schema ?? null, only?.table ?? null],
  )
  return result.rows as TypeOverview[]
}
