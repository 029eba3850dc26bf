import type { Queryable } from '../connection.js'
import { inShortTransaction } from '../in-short-transaction.js'

/** Bounds of what a page asks; nothing that a reader does may become a burden. */
export interface LookOptions {
  /**
   * Longest time of one statement in milliseconds.
   * @defaultValue 5000
   */
  readonly statementTimeoutMs?: number | undefined
}

/** Bounds of an action. */
export interface ActOptions extends LookOptions {
  /**
   * How long a row that somebody else holds is waited for, in milliseconds.
   * @defaultValue 500
   */
  readonly lockTimeoutMs?: number | undefined
}

/** Texts come out the same whatever the server's and the role's settings are. */
const AS_TEXT = `set local timezone to 'UTC'; set local datestyle to 'ISO, YMD'; set local intervalstyle to 'postgres'`

/**
 * Runs `work` in a transaction that can't write, on a session that is given for its length. Task tables are never read as a
 * whole there: what an index doesn't serve must be bounded by the statement.
 */
export function lookOnly<Value>(
  session: Queryable,
  work: () => Promise<Value>,
  options: LookOptions = {},
): Promise<Value> {
  const begin = `begin isolation level read committed read only; ${timeout('statement_timeout', options.statementTimeoutMs, 5_000)}; ${AS_TEXT};
    set local enable_seqscan to off; set local jit to off; set local max_parallel_workers_per_gather to 0`
  return inShortTransaction(session, work, begin)
}

/** Runs an action in a transaction that waits for no row longer than `lockTimeoutMs`: SQLSTATE 55P03 tells that it is held. */
export function actBriefly<Value>(
  session: Queryable,
  work: () => Promise<Value>,
  options: ActOptions = {},
): Promise<Value> {
  const begin = `begin isolation level read committed; ${timeout('lock_timeout', options.lockTimeoutMs, 500)};
    ${timeout('statement_timeout', options.statementTimeoutMs, 30_000)}; ${AS_TEXT}`
  return inShortTransaction(session, work, begin)
}

function timeout(setting: string, given: number | undefined, byDefault: number): string {
  return `set local ${setting} to ${Math.max(1, Math.round(given ?? byDefault))}`
}
