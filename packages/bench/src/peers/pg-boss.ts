import { setTimeout as sleep } from 'node:timers/promises'
import pg, { type Client } from 'pg'
import { PgBoss } from 'pg-boss'
import { CONFIGURATIONS, type PgBossConfiguration, pick } from './configurations.js'
import type { Enqueuer, Peer, PeerOptions, Working, WorkOptions } from './peer.js'

const FILL_AT_ONCE = 10_000
const FRESH = { monitorIntervalSeconds: 1, superviseIntervalSeconds: 1, queueCacheIntervalSeconds: 1 }

interface Job {
  readonly id: string
  readonly data: { readonly mark: number }
}

export class PgBossPeer implements Peer {
  readonly claim = '%FOR UPDATE OF j SKIP LOCKED%'
  readonly #url: string
  readonly #config: PgBossConfiguration

  constructor({ url, config }: PeerOptions) {
    this.#url = url
    this.#config = pick(CONFIGURATIONS['pg-boss'], config)
  }

  async install(): Promise<void> {
    const boss = await this.#start(2)
    await boss.createQueue('noop', this.#config.notify === true ? { notify: true } : {})
    await boss.stop()
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    await client.query('create table effects (task text not null)')
    await client.end()
  }

  async fill(count: number): Promise<void> {
    const boss = await this.#start(2)
    for (let done = 0; done < count; done += FILL_AT_ONCE) {
      const length = Math.min(FILL_AT_ONCE, count - done)
      await boss.insert(
        'noop',
        Array.from({ length }, () => ({ data: { mark: 0 } })),
      )
    }
    await boss.stop()
  }

  async isDrained(client: Client): Promise<boolean> {
    const { rows } = await client.query(
      `select not exists (select from pgboss.job where name = 'noop' and state < 'completed') as bench_drained`,
    )
    return rows[0].bench_drained
  }

  async work({ onTask, userWrite }: WorkOptions): Promise<Working> {
    const boss = await this.#start(26)
    const users = userWrite ? new pg.Pool({ connectionString: this.#url, max: 24 }) : undefined
    if (this.#config.freshStatistics === true) await sleep(2_500)
    if (this.#config.work.transactional === true) {
      await boss.work('noop', { ...this.#config.work, transactional: true }, async (jobs, tx) => {
        for (const job of jobs as Job[]) {
          onTask(job.data.mark)
          if (userWrite) await tx.executeSql('insert into effects (task) values ($1)', [job.id])
        }
      })
    } else {
      await boss.work('noop', this.#config.work, async (jobs) => {
        for (const job of jobs as Job[]) {
          onTask(job.data.mark)
          if (users !== undefined) await users.query('insert into effects (task) values ($1)', [job.id])
        }
      })
    }
    return {
      async stop() {
        await boss.stop({ graceful: true, timeout: 5_000 })
        await users?.end()
      },
    }
  }

  async enqueuer(connections: number): Promise<Enqueuer> {
    const boss = await this.#start(connections)
    return {
      enqueue: async (mark) => {
        await boss.send('noop', { mark })
      },
      enqueueMany: async (marks) => {
        await boss.insert(
          'noop',
          marks.map((mark) => ({ data: { mark } })),
        )
      },
      enqueueIn: async (client, { mark, plannedTo }) => {
        const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) }
        await boss.send('noop', { mark }, { db, ...(plannedTo === undefined ? {} : { startAfter: plannedTo }) })
      },
      end: () => boss.stop(),
    }
  }

  async #start(max: number): Promise<PgBoss> {
    const boss = new PgBoss({
      connectionString: this.#url,
      max,
      schedule: false,
      ...(this.#config.notify === true ? { useListenNotify: true } : {}),
      ...(this.#config.freshStatistics === true ? FRESH : {}),
    })
    boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
    await boss.start()
    return boss
  }
}
