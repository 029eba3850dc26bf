import type { Queryable } from '../connection.js'

/** Runs `work` in a transaction that sees the database as it is at one moment, and can't write. */
export async function inOneSnapshot<Value>(session: Queryable, work: () => Promise<Value>): Promise<Value> {
  await session.query('begin isolation level repeatable read read only')
  try {
    return await work()
  } finally {
    await session.query('rollback').catch(() => {})
  }
}
