import { Client, type ClientBase, Pool } from 'pg'
import { ReadOnlyServerError } from '../errors/connection-errors.js'
import { withDeadline } from '../timers/with-deadline.js'
import type { ClientConfig } from './connection-options.js'
import type { ConnectionSource, Server } from './connection-source.js'
import { captureStream } from './create-client.js'
import type { PoolClientLike, PoolLike } from './queryable.js'
import { watchReadOnly } from './read-only.js'

/** Settings of a pool of our own. */
export interface CreatePoolOptions {
  readonly source: ConnectionSource
  /** The sessions' name in pg_stat_activity, unless the configuration names it. */
  readonly applicationName: string
  /** Most connections at once. */
  readonly max: number
  /**
   * Longest time to wait for a connection, a free one included, in milliseconds.
   * @defaultValue 10000
   */
  readonly connectTimeoutMs?: number
  /**
   * How long an idle connection is kept, in milliseconds.
   * @defaultValue 10000
   */
  readonly idleTimeoutMs?: number
  /** Told of idle connections that were lost. Must not throw. */
  readonly onError?: (error: Error) => void
}

/** A pool that was made here, and is ended here. */
export interface OwnedPool extends PoolLike {
  /** Waits for connections in use for `graceMs`, then closes them; ends promptly whatever state the network is in. */
  end(graceMs?: number): Promise<void>
}

/**
 * Makes a pool whose connections go to the first server of the source that can be written to. No lost connection, idle or in
 * use, can end the process.
 */
export function createPool(options: CreatePoolOptions): OwnedPool {
  const { source, applicationName, max, connectTimeoutMs = 10_000, idleTimeoutMs = 10_000, onError } = options
  const destroyers = new Set<() => void>()
  const settings: ClientConfig = {
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    fallback_application_name: applicationName,
  }
  const pool = new Pool({
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    Client: pooledClientClass(source, settings, destroyers),
    onConnect: (client) => (client as PooledClient).refuseReadOnly(),
  })
  pool.on('error', (error) => onError?.(error))
  return {
    connect: () => pool.connect() as Promise<PoolClientLike>,
    query: (text, values) => pool.query(text, values && [...values]),
    async end(graceMs = 0) {
      try {
        await withDeadline(pool.end(), Math.max(graceMs, 500), () => new Error('Connections in use'))
      } catch {
        for (const destroy of destroyers) destroy()
      }
    },
  }
}

interface PooledClient extends ClientBase {
  refuseReadOnly(): void
}

/** pg-pool makes its clients itself and synchronously; so each client picks its server when it is made. */
function pooledClientClass(
  source: ConnectionSource,
  settings: ClientConfig,
  destroyers: Set<() => void>,
): new () => PooledClient {
  return class extends Client implements PooledClient {
    readonly #server: Server
    readonly #isReadOnly: () => boolean

    constructor() {
      const server = source.current
      const { config, destroy } = captureStream({ ...server.config, ...settings })
      super(config)
      this.#server = server
      this.#isReadOnly = watchReadOnly(this)
      destroyers.add(destroy)
      let connected = false
      this.once('connect', () => {
        connected = true
      })
      this.once('end', () => {
        destroyers.delete(destroy)
        if (!connected) source.failed(server)
      })
      // pg-pool listens for errors of idle clients only.
      this.on('error', () => {})
    }

    refuseReadOnly(): void {
      if (this.#isReadOnly()) {
        source.failed(this.#server)
        throw new ReadOnlyServerError(this.#server.address)
      }
      source.succeeded(this.#server)
    }
  }
}
