import type { Queryable } from '../connection.js'

/** From now on a statement of this session that waits for a lock gives up after so many milliseconds. */
export async function limitLockWait(connection: Queryable, lockTimeoutMs: number): Promise<void> {
  await connection.query(`select set_config('lock_timeout', $1, false)`, [String(lockTimeoutMs)])
}
