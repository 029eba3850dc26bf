import type { Queryable } from '@pg-tasks/sql'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { fromPostgresJs, type PostgresJsLike } from './postgres-js.js'

/** The part of a Drizzle database or transaction that is used here. */
export interface DrizzleLike {
  readonly _: { readonly session: object }
}

/**
 * Makes a connection of a Drizzle database or transaction on node-postgres or postgres.js, for `Task` and all that takes a
 * connection. Statements go to the driver, past Drizzle's logger and cache, so that values are read as without Drizzle: `Date`
 * for timestamps.
 *
 * @throws InvalidArgumentError if it is no Drizzle database, or one on another driver
 *
 * @example
 * await db.transaction(async (tx) => {
 *   await tx.update(orders).set({ invoiced: true }).where(eq(orders.id, task.order_id))
 *   await sendInvoice.finish(fromDrizzle(tx), task)
 * })
 */
export function fromDrizzle(db: DrizzleLike): Queryable {
  const session = (db as Partial<DrizzleLike> | null | undefined)?._?.session
  if (session === undefined) {
    throw new InvalidArgumentError(
      'db',
      'must be what drizzle() gave, or the transaction that db.transaction passes on.',
    )
  }
  const client = Reflect.get(session, 'client') as Partial<PostgresJsLike & Queryable> | undefined
  if (typeof client?.unsafe === 'function') return fromPostgresJs(client as PostgresJsLike)
  if (typeof client?.query === 'function') return client as Queryable
  throw new InvalidArgumentError('db', 'must be on drizzle-orm/node-postgres or drizzle-orm/postgres-js.')
}
