import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { databaseUrl } from '../../support/names.js'
import { type Replica, rejoin, startReplica } from '../../support/replica.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { waitFor } from '../../support/wait-for.js'
import type { ChaosType } from '../load/task-types.js'
import { createChaosDatabase, DATABASE, withProgramClient } from './create-database.js'

/** What happens to the server that everybody uses; between the last two it acknowledges what a failover will lose. */
export type ServerEvent = 'server_ended' | 'server_back' | 'forgetting_began' | 'forgetting_ended'

export interface ServersOptions {
  /** Whether there is a replica to fail over to. */
  readonly replica: boolean
  readonly onEvent: (event: ServerEvent) => void
}

/** The primary and its synchronous replica, which change places at a failover. */
export class Servers {
  readonly all: readonly TestServer[]
  #primary: TestServer
  #replica: Replica | undefined
  readonly #onEvent: (event: ServerEvent) => void
  #busy = false

  private constructor(primary: TestServer, replica: Replica | undefined, onEvent: (event: ServerEvent) => void) {
    this.#onEvent = onEvent
    this.#primary = primary
    this.#replica = replica
    this.all = replica === undefined ? [primary] : [primary, replica]
  }

  static async start(types: readonly ChaosType[], options: ServersOptions): Promise<Servers> {
    const primary = await startTestServer({
      settings: { max_wal_size: '128MB', wal_keep_size: '32MB' },
    })
    await createChaosDatabase(primary.url, types)
    if (!options.replica) return new Servers(primary, undefined, options.onEvent)
    // Here, and so in the replica's copy too: a standby asks again for its primary after a crash.
    await withProgramClient(primary.url, (client) =>
      client.query("alter system set wal_retrieve_retry_interval = '100ms'"),
    )
    return new Servers(primary, await startReplica(primary, { synchronous: true }), options.onEvent)
  }

  /** Whether a server is away or being made anew. */
  get busy(): boolean {
    return this.#busy
  }

  /** Leads to the database on the primary, past all proxies. */
  get url(): string {
    return databaseUrl(this.#primary.url, DATABASE)
  }

  /** Runs statements there. */
  ask<Value>(work: (client: Client) => Promise<Value>): Promise<Value> {
    return withProgramClient(this.url, work)
  }

  /** `kill -9`, and a restart after a while. */
  crash(downMs: number): Promise<void> {
    return this.#alone(async () => {
      this.#end()
      await delay(downMs)
      await this.#primary.restart()
      this.#onEvent('server_back')
    })
  }

  /**
   * `kill -9` of the primary, promotion of the replica; then the old primary becomes the new one's replica.
   *
   * @param forgetMs - before, commits don't wait for the replica, which hears of none for so long; 0: nothing is lost
   */
  failOver(forgetMs: number): Promise<void> {
    return this.#alone(async () => {
      const [former, promoted] = [this.#primary, this.#replica]
      if (promoted === undefined) return
      if (forgetMs > 0) await this.#forget(promoted, forgetMs)
      else this.#end()
      await promoted.promote()
      this.#onEvent('server_back')
      this.#primary = promoted
      this.#replica = undefined
      await waitFor(() => hasEnded(former.pid), { what: 'the end of the former primary' })
      this.#replica = await rejoin(former, promoted, { synchronous: true })
    })
  }

  /** Replication stands still; what is committed from now on, a failover loses. */
  async #forget(replica: Replica, forMs: number): Promise<void> {
    await withProgramClient(this.#primary.url, async (client) => {
      await client.query("alter system set synchronous_standby_names = ''")
      this.#onEvent('forgetting_began')
      await client.query('select pg_reload_conf()')
    })
    const receiver = await withProgramClient(replica.url, async (client) => {
      const { rows } = await client.query<{ pid: number | null }>('select max(pid) as pid from pg_stat_wal_receiver')
      return rows[0]?.pid
    })
    if (receiver) process.kill(receiver, 'SIGSTOP')
    await delay(forMs)
    this.#end()
    this.#onEvent('forgetting_ended')
    if (receiver) process.kill(receiver, 'SIGCONT')
  }

  #end(): void {
    this.#onEvent('server_ended')
    this.#primary.kill()
  }

  async remove(): Promise<void> {
    await Promise.all(this.all.map((server) => server.remove()))
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    this.#busy = true
    try {
      await work()
    } finally {
      this.#busy = false
    }
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}
