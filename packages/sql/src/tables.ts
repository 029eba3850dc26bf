import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { FailureReason } from './template-row.js'

/** bigint: read as text, written as text, number or bigint. */
type Bigint = ColumnType<string, string | number | bigint, string | number | bigint>
type GeneratedBigint = ColumnType<string, string | number | bigint | undefined, string | number | bigint>
type Timestamp = ColumnType<Date, Date | string, Date | string>
type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>
type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
/** As `pg` reads it, an object; written in PostgreSQL's words. */
type Interval = ColumnType<unknown, string, string>

/**
 * The template's columns as Kysely takes them; add your own.
 *
 * @example
 * interface Database extends TasksDatabase {
 *   'tasks.send_invoice': TaskTable & { order_id: ColumnType<string>; email: string }
 * }
 */
export interface TaskTable {
  id: GeneratedBigint
  created_at: GeneratedTimestamp
  planned_to: GeneratedTimestamp
  started_at: NullableTimestamp
  finished_at: NullableTimestamp
  execution_count: Generated<number>
  canceled: Generated<boolean>
  trace_id: string | null
  comment: string | null
  priority: Generated<number>
  run_token: string | null
  run_worker: string | null
  run_until: NullableTimestamp
  lost_count: Generated<number>
  held: Generated<boolean>
  failed_at: NullableTimestamp
  canceled_at: NullableTimestamp
  failure_reason: FailureReason | null
  last_error: string | null
  schedule_key: string | null
  occurrence_at: NullableTimestamp
  schedule_trigger: 'schedule' | 'catchup' | 'backfill' | 'manual' | null
  group_key: string | null
  traceparent: string | null
}

/** `tasks.types`: written by register, configure and the limits. */
export interface TypesTable {
  table_id: string
  id: Generated<number>
  schema_name: string
  table_name: string
  timeout: Interval | null
  max_retries: number | null
  notification_interval: Interval | null
  storage_time: Interval | null
  notify: Generated<boolean>
  function_name: string
  backoff_base: Interval
  backoff_max: Interval
  run_limit: Interval | null
  registered_at: GeneratedTimestamp
  source_hash: string | null
  on_failure: string | null
  paused_at: NullableTimestamp
  paused_reason: string | null
  concurrency: number | null
  rate_count: number | null
  rate_interval: Interval | null
  rate_burst: number | null
  key_columns: string[] | null
  key_concurrency: number | null
  key_on_retry: 'block' | 'step_aside' | null
  limited: GeneratedAlways<boolean>
  history_time: Interval | null
}

/** `tasks.leases`. */
export interface LeasesTable {
  worker_id: string
  table_id: string
  leased_until: Timestamp
  opened_at: GeneratedTimestamp
}

/** `tasks.stats`: tasks per type and state. */
export interface StatsView {
  schema_name: string
  table_name: string
  total: Bigint
  scheduled: Bigint
  ready: Bigint
  running: Bigint
  finished: Bigint
  failed: Bigint
  canceled: Bigint
}

/** The tables and views of the schema `tasks` that are for reading with Kysely. */
export interface TasksDatabase {
  'tasks.template': TaskTable
  'tasks.types': TypesTable
  'tasks.leases': LeasesTable
  'tasks.stats': StatsView
}

type ColumnsOf<Table> = { readonly [Column in keyof Table]: true }

/** The columns of each, at run time: what the types say is compared with a real database by a test. */
export const tableColumns: { readonly [Table in keyof TasksDatabase]: ColumnsOf<TasksDatabase[Table]> } = {
  'tasks.template': {
    id: true,
    created_at: true,
    planned_to: true,
    started_at: true,
    finished_at: true,
    execution_count: true,
    canceled: true,
    trace_id: true,
    comment: true,
    priority: true,
    run_token: true,
    run_worker: true,
    run_until: true,
    lost_count: true,
    held: true,
    failed_at: true,
    canceled_at: true,
    failure_reason: true,
    last_error: true,
    schedule_key: true,
    occurrence_at: true,
    schedule_trigger: true,
    group_key: true,
    traceparent: true,
  },
  'tasks.types': {
    table_id: true,
    id: true,
    schema_name: true,
    table_name: true,
    timeout: true,
    max_retries: true,
    notification_interval: true,
    storage_time: true,
    notify: true,
    function_name: true,
    backoff_base: true,
    backoff_max: true,
    run_limit: true,
    registered_at: true,
    source_hash: true,
    on_failure: true,
    paused_at: true,
    paused_reason: true,
    concurrency: true,
    rate_count: true,
    rate_interval: true,
    rate_burst: true,
    key_columns: true,
    key_concurrency: true,
    key_on_retry: true,
    limited: true,
    history_time: true,
  },
  'tasks.leases': { worker_id: true, table_id: true, leased_until: true, opened_at: true },
  'tasks.stats': {
    schema_name: true,
    table_name: true,
    total: true,
    scheduled: true,
    ready: true,
    running: true,
    finished: true,
    failed: true,
    canceled: true,
  },
}
