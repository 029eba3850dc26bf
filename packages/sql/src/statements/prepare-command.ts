import type { Queryable } from '../connection.js'
import { READABLE_SETTINGS } from './readable-settings.js'

/**
 * Makes the session of a command independent of what the role or the database set: a statement that waits for a lock gives up
 * after so many milliseconds; dates and numbers are as the driver reads them, in full. A statement whose command has ended, by
 * Ctrl-C say, ends within a second, where the server's system can tell.
 */
export async function prepareCommand(
  connection: Queryable,
  options: { readonly lockTimeoutMs: number },
): Promise<void> {
  // Refused by servers whose system can't tell.
  await connection.query(
    `do $$ begin set client_connection_check_interval to '1s'; exception when invalid_parameter_value then null; end $$`,
  )
  await connection.query(`select set_config('lock_timeout', $1, false), ${READABLE_SETTINGS}`, [
    String(options.lockTimeoutMs),
  ])
}
