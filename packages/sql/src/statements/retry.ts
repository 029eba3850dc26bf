import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'
import type { FailureReason, TaskState } from '../template-row.js'

/** When and why a task runs again. With neither `plannedTo` nor `delayMs` it waits for the type's backoff. */
export interface RetryOptions {
  readonly plannedTo?: Date | undefined
  /** From now, by the database's clock, in milliseconds. */
  readonly delayMs?: number | undefined
  readonly comment?: string | undefined
  readonly token?: string | undefined
  /** Stored as `last_error`; at most 10,000 characters. */
  readonly error?: string | undefined
  /** Stored as `failure_reason` if the executions are used up. */
  readonly reason?: FailureReason | undefined
}

/** What a retry did, if its transaction is committed. */
export interface Retried {
  /** The task's new state: scheduled, ready, or failed. */
  readonly state: TaskState
  /** The transaction that did it, for {@link committedTransactions}. */
  readonly transactionId: string
}

/** Makes a running task wait again. */
export async function retry(
  connection: Queryable,
  type: TaskTypeName,
  id: string,
  options: RetryOptions,
): Promise<Retried> {
  const { plannedTo, delayMs, comment, token, error, reason } = options
  const result = await connection.query(
    `select ${verbOf(type, 'retry')}($1::bigint, $2::timestamptz, $3::text, $4::uuid, make_interval(secs => $5::double precision / 1000), $6::text, $7::text) as state,
       pg_catalog.pg_current_xact_id_if_assigned()::text as "transactionId"`,
    [id, plannedTo ?? null, comment ?? null, token ?? null, delayMs ?? null, error ?? null, reason ?? 'error'],
  )
  return result.rows[0] as Retried
}
