import type { Queryable } from '@pg-tasks/sql'
import { TransactionRolledBackError } from '../errors/run-errors.js'

/** A pool's client as `pg` has it. */
export interface TransactionClient extends Queryable {
  release(error?: Error | boolean): void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/**
 * A pool as `pg` has it. The second way stands for its `connect(callback)`: TypeScript infers from overloads pair by pair from the
 * last one on, so with the first alone the client of a `Pool` would be known as no more than a `TransactionClient`.
 */
export interface TransactionPool<Client extends TransactionClient> {
  connect(): Promise<Client>
  // biome-ignore lint/suspicious/noConfusingVoidType: what `pg` says that it returns
  connect(callback: never): Promise<Client> | void
}

type OnConnect = (error: Error | undefined, client?: TransactionClient) => void

interface CallbackPool {
  connect(onConnect: OnConnect): Promise<TransactionClient> | undefined
}

/** A Kysely as far as a transaction needs it. */
export interface TransactionKysely<Transaction> {
  transaction(): { execute<Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value> }
}

/**
 * Runs `work` in a transaction: committed when it returns, rolled back when it throws. The error thrown is `work`'s own; a
 * connection on which the rollback failed is not used again.
 *
 * @throws TransactionRolledBackError if `work` returned although a statement of its had failed: PostgreSQL then answers COMMIT
 * with a rollback
 *
 * @example
 * await inTransaction(pool, async (tx) => {
 *   await tx.query('update shop.orders set invoiced = true where id = $1', [task.order_id])
 *   await this.finish(tx, task)
 * })
 */
export function inTransaction<Client extends TransactionClient, Value>(
  pool: TransactionPool<Client>,
  work: (client: Client) => Promise<Value>,
): Promise<Value>
export function inTransaction<Transaction, Value>(
  kysely: TransactionKysely<Transaction>,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value>
export async function inTransaction(
  target: TransactionPool<TransactionClient> | TransactionKysely<unknown>,
  work: (transaction: never) => Promise<unknown>,
): Promise<unknown> {
  if ('transaction' in target) return target.transaction().execute(work as (transaction: unknown) => Promise<unknown>)
  let broken: Error | undefined
  // While it is checked out, nobody else hears that its connection is lost, and an `error` that nobody hears ends the process.
  const onError = (error: Error): void => {
    broken = error
  }
  const client = await checkOut(target, onError)
  try {
    await client.query('begin')
    const value = await work(client as never)
    const committed = (await client.query('commit')) as { readonly command?: string }
    if (committed.command === 'ROLLBACK') throw new TransactionRolledBackError()
    return value
  } catch (error) {
    try {
      await client.query('rollback')
    } catch (rollbackError) {
      broken = rollbackError as Error
    }
    throw error
  } finally {
    client.off?.('error', onError)
    client.release(broken)
  }
}

/**
 * Takes a client out of a pool, with a listener from its first moment: a server that lets a connection in and shuts down at once
 * may say both in one piece, and then what waits for a promise comes too late. So by callback, where the pool takes one.
 */
function checkOut(
  pool: TransactionPool<TransactionClient>,
  onError: (error: Error) => void,
): Promise<TransactionClient> {
  return new Promise((resolve, reject) => {
    const take = (client: TransactionClient): void => {
      client.on?.('error', onError)
      resolve(client)
    }
    if (pool.connect.length === 0) {
      pool.connect().then(take, reject)
      return
    }
    const onConnect: OnConnect = (error, client) => {
      if (client === undefined) reject(error as Error)
      else take(client)
    }
    // One whose argument is something else gives a promise.
    const promised = (pool as unknown as CallbackPool).connect(onConnect)
    promised?.then(take, reject)
  })
}
