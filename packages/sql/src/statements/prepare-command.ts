import type { Queryable } from '../connection.js'
import { READABLE_SETTINGS } from './readable-settings.js'

/**
 * Makes the session of a command independent of what the role or the database set: a statement that waits for a lock gives up
 * after so many milliseconds; dates and numbers are as the driver reads them, in full.
 */
export async function prepareCommand(
  connection: Queryable,
  options: { readonly lockTimeoutMs: number },
): Promise<void> {
  await connection.query(`select set_config('lock_timeout', $1, false), ${READABLE_SETTINGS}`, [
    String(options.lockTimeoutMs),
  ])
}
