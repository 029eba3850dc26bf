import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker'
import pg, { type Client } from 'pg'
import { CONFIGURATIONS, type GraphileConfiguration, pick } from './configurations.js'
import type { Enqueuer, Peer, PeerOptions, Working, WorkOptions } from './peer.js'

/** The settings that perfTest/graphile.config.js of its repository uses. */
const PRESET = {
  localQueue: { size: 500, refetchDelay: { durationMs: 10 } },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
}

const FILL = `
  select count(*) from graphile_worker.add_jobs(array(
    select row('noop', json_build_object('mark', 0), null, null, null, null, null, null)::graphile_worker.job_spec
    from generate_series(1, $1::integer)))`

/** Its JavaScript interface takes no client, so a task inside the caller's transaction is added in SQL. */
const ADD = 'select graphile_worker.add_job($1, $2::json, run_at => $3)'

const logger = new Logger(() => () => {})

export class GraphileWorker implements Peer {
  readonly claim = 'with j%skip locked%'
  readonly #url: string
  readonly #config: GraphileConfiguration

  constructor({ url, config }: PeerOptions) {
    this.#url = url
    this.#config = pick(CONFIGURATIONS['graphile-worker'], config)
  }

  async install(): Promise<void> {
    const pool = this.#pool(2)
    await runMigrations({ pgPool: pool, logger })
    await pool.query('create table effects (task text not null)')
    await pool.end()
  }

  async fill(count: number): Promise<void> {
    const pool = this.#pool(1)
    await pool.query(FILL, [count])
    await pool.end()
  }

  async isDrained(client: Client): Promise<boolean> {
    const { rows } = await client.query(
      'select not exists (select from graphile_worker._private_jobs) as bench_drained',
    )
    return rows[0].bench_drained
  }

  async work({ onTask, userWrite }: WorkOptions): Promise<Working> {
    const { concurrency, batched } = this.#config
    const maxPoolSize = Math.max(concurrency + 1, 10)
    const pgPool = this.#pool(maxPoolSize)
    const users = userWrite ? this.#pool(concurrency) : undefined
    const runner = await run({
      preset: { worker: { concurrentJobs: concurrency, maxPoolSize, ...(batched ? PRESET : {}) } },
      pgPool,
      logger,
      noHandleSignals: true,
      crontab: '',
      taskList: {
        noop: (payload, { job }) => {
          onTask((payload as { mark: number }).mark)
          if (users === undefined) return undefined
          return users.query('insert into effects (task) values ($1)', [job.id]).then(() => {})
        },
      },
    })
    return {
      async stop() {
        await runner.stop()
        await pgPool.end()
        await users?.end()
      },
    }
  }

  async enqueuer(connections: number): Promise<Enqueuer> {
    const pgPool = this.#pool(connections)
    const utils = await makeWorkerUtils({ pgPool, logger })
    return {
      enqueue: async (mark) => {
        await utils.addJob('noop', { mark })
      },
      enqueueMany: async (marks) => {
        await utils.addJobs(marks.map((mark) => ({ identifier: 'noop', payload: { mark } })))
      },
      enqueueIn: async (client, { mark, plannedTo }) => {
        await client.query(ADD, ['noop', JSON.stringify({ mark }), plannedTo ?? null])
      },
      async end() {
        await utils.release()
        await pgPool.end()
      },
    }
  }

  #pool(max: number): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.#url, max })
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }
}
