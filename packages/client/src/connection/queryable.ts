import type { Queryable } from '@pg-tasks/sql'

/** A client of a pool. */
export interface PoolClientLike extends Queryable {
  /** @param destroy - true, or the error, where the connection must not be used again */
  release(destroy?: Error | boolean): void
}

/** The part of a pg Pool that this package uses. */
export interface PoolLike extends Queryable {
  connect(): Promise<PoolClientLike>
  /** How the pool connects; a connection of our own is made the same way. */
  readonly options?: object
}
