import type { Queryable } from '../connection.js'
import { READABLE_SETTINGS } from './readable-settings.js'

/**
 * Makes a session of a worker's own independent of what the role or the database set: statements in READ COMMITTED, no wait for
 * a lock beyond `lockTimeoutMs`, no end for being idle; dates and numbers as the driver reads them, in full; rows by the policies
 * for them instead of an error. Not for a session behind a transaction pooler, which others get next.
 */
export async function prepareSession(
  connection: Queryable,
  options: { readonly lockTimeoutMs: number },
): Promise<void> {
  await connection.query(
    `select set_config('default_transaction_isolation', 'read committed', false),
       set_config('lock_timeout', $1, false), set_config('statement_timeout', '15s', false),
       set_config('idle_session_timeout', '0', false), set_config('row_security', 'on', false),
       ${READABLE_SETTINGS}`,
    [String(options.lockTimeoutMs)],
  )
}
