import type { Queryable } from '../connection.js'

/**
 * Runs `work` in a transaction that sees the database as it is at one moment, and can't write. What is copied out can be copied
 * in whatever the settings there are.
 */
export async function inOneSnapshot<Value>(session: Queryable, work: () => Promise<Value>): Promise<Value> {
  await session.query(`begin isolation level repeatable read read only; set local datestyle to 'ISO, YMD';
    set local intervalstyle to 'postgres'; set local extra_float_digits to 1`)
  try {
    return await work()
  } finally {
    await session.query('rollback').catch(() => {})
  }
}
