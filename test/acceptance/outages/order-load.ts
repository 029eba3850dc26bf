import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { expect } from 'vitest'
import { PrimaryPool } from '../../chaos/load/primary-pool.js'
import { createTaskType } from '../../support/task-type.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../../support/worker-process.js'

const RUN_ORDERS = new URL('./workers/run-orders.ts', import.meta.url)

/** Two worker processes, and a loader that enqueues orders as fast as it is answered. */
export class OrderLoad {
  /** Orders whose INSERT was acknowledged. */
  readonly acknowledged = new Set<string>()
  readonly #primary: PrimaryPool
  readonly #workers: readonly WorkerProcess[]
  #loading: Promise<void> | undefined
  #over = false

  private constructor(urls: readonly string[]) {
    this.#primary = new PrimaryPool(urls, 'loader', 2)
    const env = { DATABASE_URLS: urls.join(' ') }
    this.#workers = [spawnScript(RUN_ORDERS, { env }), spawnScript(RUN_ORDERS, { env })]
  }

  /**
   * @param pool - of the database as it is now
   * @param urls - where it may be
   */
  static async start(pool: Pool, urls: readonly string[]): Promise<OrderLoad> {
    await pool.query('create table effects (task_id bigint, pid int, at timestamptz default clock_timestamp())')
    const settings = { timeout: '2 s', backoffBase: '50 ms', backoffMax: '200 ms', maxRetries: null }
    await createTaskType(pool, 'orders', settings)
    const load = new OrderLoad(urls)
    await Promise.all(load.#workers.map((worker) => worker.line('ready', { timeoutMs: 60_000 })))
    load.#loading = load.#enqueue()
    return load
  }

  /** Resolves when each worker has done so many orders more. */
  async isWorking(orders = 20): Promise<void> {
    const before = this.#workers.map((worker) => worker.output.length)
    const worked = () => this.#workers.every((worker, index) => worker.output.length >= Number(before[index]) + orders)
    await waitFor(worked, { timeoutMs: 60_000, what: 'both workers to do orders' })
  }

  /** Resolves with the time until an order was done from now on, in milliseconds. */
  async resumed(): Promise<number> {
    const before = this.#done.length
    const begun = performance.now()
    await waitFor(() => this.#done.length > before, { timeoutMs: 60_000, what: 'an order to be done again' })
    return performance.now() - begun
  }

  /** Stops enqueueing, waits until everything has ended, and checks that nothing was lost or done twice. */
  async check(pool: Pool): Promise<void> {
    this.#over = true
    await this.#loading
    const unfinished = async () =>
      (await pool.query('select count(*)::int as count from tasks.orders where finished_at is null')).rows[0]?.count
    await waitFor(async () => (await unfinished()) === 0, { timeoutMs: 60_000, what: 'all orders to be finished' })
    // They stayed up, and end when asked.
    const ends = await Promise.all(this.#workers.map((worker) => worker.kill('SIGTERM', { timeoutMs: 45_000 })))
    expect(ends.map(({ code, signal }) => ({ code, signal }))).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ])
    const { rows } = await pool.query<{ id: string; effects: number }>(
      `select t.id, count(e.task_id)::int as effects from tasks.orders t left join effects e on e.task_id = t.id group by t.id`,
    )
    expect(rows.filter(({ effects }) => effects !== 1)).toEqual([])
    const present = new Set(rows.map(({ id }) => id))
    expect([...this.acknowledged].filter((id) => !present.has(id))).toEqual([])
    expect(this.#done.filter((id) => !present.has(id))).toEqual([])
    const { rows: strangers } = await pool.query(
      'select task_id from effects where task_id not in (select id from tasks.orders)',
    )
    expect(strangers).toEqual([])
  }

  async end(): Promise<void> {
    this.#over = true
    await Promise.all(this.#workers.map((worker) => worker.kill('SIGKILL')))
    await this.#loading
    await this.#primary.end()
  }

  /** Orders of which a worker has said that they are committed. */
  get #done(): readonly string[] {
    return this.#workers.flatMap(({ output }) =>
      output.filter((line) => line.startsWith('done ')).map((line) => line.slice('done '.length)),
    )
  }

  async #enqueue(): Promise<void> {
    while (!this.#over) {
      try {
        const { rows } = await this.#primary.use((client) =>
          client.query<{ id: string }>('insert into tasks.orders default values returning id'),
        )
        for (const { id } of rows) this.acknowledged.add(id)
        await delay(2)
      } catch {
        // Nobody knows whether it was committed.
        await delay(20)
      }
    }
  }
}
