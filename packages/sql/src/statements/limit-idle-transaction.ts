import type { Queryable } from '../connection.js'

/** Lets the server end this transaction, and the session with it, if its client says nothing for so long. */
export async function limitIdleTransaction(connection: Queryable, limitMs: number): Promise<void> {
  const milliseconds = Math.min(Math.ceil(limitMs), 2 ** 31 - 1)
  await connection.query(`select set_config('idle_in_transaction_session_timeout', $1, true)`, [String(milliseconds)])
}
