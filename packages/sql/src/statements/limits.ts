import type { Queryable } from '../connection.js'
import type { TaskTypeName } from '../task-type-name.js'

type TableName = Pick<TaskTypeName, 'schema' | 'table'>

/** From now on no task of the type is acquired, until it is resumed; running ones go on. */
export async function pauseType(connection: Queryable, type: TableName, reason?: string): Promise<void> {
  await connection.query('select tasks.pause($1::text, $2::text, $3::text)', [type.schema, type.table, reason ?? null])
}

/** Resumes a paused type. */
export async function resumeType(connection: Queryable, type: TableName): Promise<void> {
  await connection.query('select tasks.resume($1::text, $2::text)', [type.schema, type.table])
}

/** At most so many tasks of the type run at once in all processes; null: no limit. */
export async function limitConcurrency(connection: Queryable, type: TableName, most: number | null): Promise<void> {
  await connection.query('select tasks.limit_concurrency($1::text, $2::text, $3::integer)', [
    type.schema,
    type.table,
    most,
  ])
}

/** How often tasks of a type may start. */
export interface RateLimit {
  /** Most tasks per interval, in all processes. */
  readonly count: number
  /** The interval in milliseconds. @defaultValue 1000 */
  readonly perMs?: number | undefined
  /** How many may start at once after a lull. @defaultValue 1, evenly */
  readonly burst?: number | undefined
}

/** Limits how often tasks of the type start; null: no limit. */
export async function limitRate(connection: Queryable, type: TableName, rate: RateLimit | null): Promise<void> {
  await connection.query(
    'select tasks.limit_rate($1::text, $2::text, $3::integer, make_interval(secs => $4::double precision / 1000), $5::integer)',
    [type.schema, type.table, rate?.count ?? null, rate?.perMs ?? 1000, rate?.burst ?? 1],
  )
}

/** What tasks with equal values in some columns may do beside each other. */
export interface KeyLimit {
  readonly columns: readonly string[]
  /** Most tasks of one key that run at once. @defaultValue 1: one after the other, in order */
  readonly concurrency?: number | undefined
  /** Whether a task that waits for its retry blocks its key or steps aside. @defaultValue 'block' */
  readonly onRetry?: 'block' | 'step_aside' | undefined
}

/** Limits tasks per key; null: no keys. */
export async function limitKeys(connection: Queryable, type: TableName, limit: KeyLimit | null): Promise<void> {
  await connection.query('select tasks.limit_keys($1::text, $2::text, $3::text[], $4::integer, $5::text)', [
    type.schema,
    type.table,
    limit?.columns ?? null,
    limit?.concurrency ?? 1,
    limit?.onRetry ?? 'block',
  ])
}
