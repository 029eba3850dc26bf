import type { Queryable } from './connection.js'

/** Runs `work` in a transaction of a worker's own session, which must be given for its length. */
export async function inShortTransaction<Value>(session: Queryable, work: () => Promise<Value>): Promise<Value> {
  await session.query('begin isolation level read committed')
  try {
    const value = await work()
    await session.query('commit')
    return value
  } catch (error) {
    await session.query('rollback').catch(() => {})
    throw error
  }
}
