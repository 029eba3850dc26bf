import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { databaseUrl } from '../../support/names.js'
import { type Replica, rejoin, startReplica } from '../../support/replica.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { waitFor } from '../../support/wait-for.js'
import type { ChaosType } from '../load/task-types.js'
import { createChaosDatabase, DATABASE, withClient } from './create-database.js'

export interface FailOverOptions {
  /** 0: nothing that was acknowledged is lost. */
  readonly forgetMs: number
  /** Told when commits no longer wait for the replica, and when there are no more. */
  readonly onForgetting: (what: 'began' | 'ended') => void
}

/** The primary and its synchronous replica, which change places at a failover. */
export class Servers {
  readonly all: readonly TestServer[]
  #primary: TestServer
  #replica: Replica | undefined
  #busy = false

  private constructor(primary: TestServer, replica: Replica | undefined) {
    this.#primary = primary
    this.#replica = replica
    this.all = replica === undefined ? [primary] : [primary, replica]
  }

  static async start(types: readonly ChaosType[], options: { readonly replica: boolean }): Promise<Servers> {
    const primary = await startTestServer({
      settings: { max_wal_size: '128MB', wal_keep_size: '32MB' },
    })
    await createChaosDatabase(primary.url, types)
    if (!options.replica) return new Servers(primary, undefined)
    // Here, and so in the replica's copy too: a standby asks again for its primary after a crash.
    await withClient(primary.url, (client) => client.query("alter system set wal_retrieve_retry_interval = '100ms'"))
    return new Servers(primary, await startReplica(primary, { synchronous: true }))
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
    return withClient(this.url, work)
  }

  /** `kill -9`, and a restart after a while. */
  crash(downMs: number): Promise<void> {
    return this.#alone(async () => {
      this.#primary.kill()
      await delay(downMs)
      await this.#primary.restart()
    })
  }

  /**
   * `kill -9` of the primary, promotion of the replica; then the old primary becomes the new one's replica.
   *
   * @param options.forgetMs - before, commits don't wait for the replica, which hears of none for so long
   */
  failOver({ forgetMs, onForgetting }: FailOverOptions): Promise<void> {
    return this.#alone(async () => {
      const [former, promoted] = [this.#primary, this.#replica]
      if (promoted === undefined) return
      if (forgetMs > 0) await this.#forget(promoted, forgetMs, onForgetting)
      else former.kill()
      await promoted.promote()
      this.#primary = promoted
      this.#replica = undefined
      await waitFor(() => hasEnded(former.pid), { what: 'the end of the former primary' })
      this.#replica = await rejoin(former, promoted, { synchronous: true })
    })
  }

  /** Replication stands still; what is committed from now on, a failover loses. */
  async #forget(replica: Replica, forMs: number, onForgetting: FailOverOptions['onForgetting']): Promise<void> {
    await withClient(this.#primary.url, async (client) => {
      await client.query("alter system set synchronous_standby_names = ''")
      onForgetting('began')
      await client.query('select pg_reload_conf()')
    })
    const receiver = await withClient(replica.url, async (client) => {
      const { rows } = await client.query<{ pid: number | null }>('select max(pid) as pid from pg_stat_wal_receiver')
      return rows[0]?.pid
    })
    if (receiver) process.kill(receiver, 'SIGSTOP')
    await delay(forMs)
    this.#primary.kill()
    onForgetting('ended')
    if (receiver) process.kill(receiver, 'SIGCONT')
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
