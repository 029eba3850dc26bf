import type { TransactionClient, TransactionPool } from '../task/in-transaction.js'

/**
 * Runs a test in a transaction that is always rolled back: what it enqueues, runs with `drain` and writes is gone afterwards,
 * whether it passes or fails. Workers, which have connections of their own, see nothing of it.
 *
 * @example
 * await inRolledBackTransaction(pool, async (tx) => {
 *   await signUp(tx, 'ada@example.com')
 *   await assertEnqueued(tx, sendWelcome, { email: 'ada@example.com' })
 * })
 */
export async function inRolledBackTransaction<Client extends TransactionClient, Value>(
  pool: TransactionPool<Client>,
  work: (client: Client) => Promise<Value>,
): Promise<Value> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    return await work(client)
  } finally {
    try {
      await client.query('rollback')
    } catch (error) {
      broken = error as Error
    }
    client.release(broken)
  }
}
