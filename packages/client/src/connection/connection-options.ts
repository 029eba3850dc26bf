import type { ClientConfig } from 'pg'
import type { PoolLike } from './queryable.js'

export type { ClientConfig }

/** Where the database is. Give `connectionString`, `connectionConfig`, both, or a `pool`. */
export interface ConnectionOptions {
  /**
   * A URL: `postgres://user:password@host:5432/database`; the password percent-encoded, a Unix socket as
   * `postgres:///database?host=/path`. Several are tried in turn, and the first server that can be written to wins, so that
   * a failover is followed.
   */
  readonly connectionString?: string | readonly string[]
  /** node-postgres' own settings, such as `ssl`; they hold for every connection string too. `{}` takes the `PG…` environment. */
  readonly connectionConfig?: ClientConfig
  /**
   * Your own pool. Statements run on it, and it is never ended; the few connections that a worker needs for itself are made
   * with the pool's options, unless `connectionString` or `connectionConfig` says otherwise.
   */
  readonly pool?: PoolLike
}
