import type { Logger, PoolLike } from '@pg-tasks/client'
import { listenToTasks } from '@pg-tasks/sql'
import { Client, type ClientConfig } from 'pg'

/** Waits between attempts to connect, in milliseconds. */
const RETRY_MS = [500, 2_000, 5_000, 15_000]

/**
 * Hears what is announced in the database, on a connection of its own, for as long as it is wanted. Announcements only make
 * pages fresher than the clock does, so nothing is lost where they don't arrive.
 */
export class Announcements {
  readonly #config: ClientConfig
  readonly #onAnnounced: () => void
  readonly #logger: Logger | undefined
  #client: Client | undefined
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  #wanted = false

  constructor(config: ClientConfig, onAnnounced: () => void, logger: Logger | undefined) {
    this.#config = config
    this.#onAnnounced = onAnnounced
    this.#logger = logger
  }

  start(): void {
    if (this.#wanted) return
    this.#wanted = true
    void this.#connect()
  }

  async stop(): Promise<void> {
    this.#wanted = false
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = undefined
    await client?.end().catch(() => {})
  }

  async #connect(): Promise<void> {
    const client = new Client({ ...this.#config, connectionTimeoutMillis: 10_000, keepAlive: true })
    this.#client = client
    client.on('notification', () => this.#onAnnounced())
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    try {
      await client.connect()
      await listenToTasks(client)
      this.#failures = 0
      if (!this.#wanted) await client.end()
    } catch (error) {
      this.#logger?.debug({ reason: (error as Error).message }, 'The dashboard can’t listen')
      this.#lost(client)
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.end().catch(() => {})
    if (!this.#wanted) return
    this.#timer = setTimeout(() => void this.#connect(), RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)])
    this.#timer.unref()
    this.#failures += 1
  }
}

/** How a listening connection is made: as the pool makes its own. */
export function listeningConfig(connectionString: string | undefined, pool: PoolLike | undefined): ClientConfig {
  const given = connectionString === undefined ? (pool?.options as ClientConfig | undefined) : { connectionString }
  return { ...given, fallback_application_name: 'pg-tasks dashboard' }
}
