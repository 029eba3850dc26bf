import { Pool, type PoolClient, type PoolConfig } from 'pg'

/** Longest time for a connection, and for a statement: black holes must not hold a caller for ever. */
const PATIENCE_MS = 4_000

/**
 * What an application has that follows a failover by itself: a pool per server, and the one that could be written to last is
 * asked first.
 */
export class PrimaryPool {
  readonly #pools: readonly Pool[]
  #preferred = 0

  constructor(urls: readonly string[], applicationName: string, max: number) {
    const settings: PoolConfig = {
      max,
      application_name: applicationName,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
    }
    this.#pools = urls.map((connectionString) => {
      const pool = new Pool({ connectionString, ...settings })
      pool.on('error', () => {})
      // pg-pool looks after idle clients only; one may be lost between its connecting and its first use.
      pool.on('connect', (client) => client.on('error', () => {}))
      return pool
    })
  }

  /** A connection to a server that can be written to. */
  async connect(): Promise<PoolClient> {
    let failure: unknown
    for (let tried = 0; tried < this.#pools.length; tried += 1) {
      try {
        return await this.#connectToPreferred()
      } catch (error) {
        failure = error
        this.#preferred = (this.#preferred + 1) % this.#pools.length
      }
    }
    throw failure
  }

  /** Runs statements on one connection, which is thrown away if they fail. */
  async use<Value>(work: (client: PoolClient) => Promise<Value>): Promise<Value> {
    const client = await this.connect()
    let failed = true
    try {
      const value = await work(client)
      failed = false
      return value
    } finally {
      client.release(failed)
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  async #connectToPreferred(): Promise<PoolClient> {
    const client = await (this.#pools[this.#preferred] as Pool).connect()
    try {
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
      if (rows[0]?.standby) throw new Error('Connection ended: the server is a standby')
      return client
    } catch (error) {
      client.release(true)
      throw error
    }
  }
}
