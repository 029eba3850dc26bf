import type { Queryable } from './connection.js'

/**
 * Runs `work` in a transaction of a worker's own session, or of whoever else has a session for its length.
 *
 * @param begin - the statement that begins it, and what holds for its length
 */
export async function inShortTransaction<Value>(
  session: Queryable,
  work: () => Promise<Value>,
  begin = 'begin isolation level read committed',
): Promise<Value> {
  try {
    await session.query(begin)
    const value = await work()
    await session.query('commit')
    return value
  } catch (error) {
    await session.query('rollback').catch(() => {})
    throw error
  }
}
