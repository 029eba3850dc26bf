import { setTimeout as sleep } from 'node:timers/promises'
import { type Claimed, RetryTask, Task, Worker } from '@pg-tasks/client'
import pg, { type Client } from 'pg'
import type { Values } from '../measure/metrics.js'
import { quantile } from '../measure/statistics.js'
import { tableSizes } from './our-table.js'
import type { TrialContext } from './trial.js'

interface Columns {
  mark: number
}

/** One in twenty asks for a retry, one in fifty takes a tenth of a second. */
class Mixed extends Task<Columns> {
  readonly #onTask: (latencyMs: number) => void

  constructor(onTask: (latencyMs: number) => void) {
    super({ table: 'noop' })
    this.#onTask = onTask
  }

  override async run(task: Claimed<Columns>): Promise<void> {
    if (task.execution_count === 1) this.#onTask(Date.now() - Math.max(task.mark, task.planned_to.getTime()))
    if (Math.random() < 0.02) await sleep(100)
    if (task.execution_count === 1 && Math.random() < 0.05) throw new RetryTask({ delayMs: 500 })
  }
}

interface Sample {
  readonly p50: number
  readonly p99: number
  readonly heapMb: number
  readonly tableMb: number
  readonly indexMb: number
}

/** A steady mixed load: what grows? The first samples, taken while everything fills up, are compared with the last. */
export async function soak({ client, url, parameters }: TrialContext): Promise<Values> {
  const { maxSeconds = 1_800, rate = 500 } = parameters
  const sampleMs = Math.max(1, maxSeconds / 30) * 1000
  const keep = Math.max(2, maxSeconds / 10)
  await client.query(`select tasks.configure('tasks', 'noop', 'storage_time', $1)`, [`${keep} s`])
  let latencies: number[] = []
  const task = new Mixed((latencyMs) => latencies.push(latencyMs))
  const worker = new Worker({ connectionString: url, handleSignals: false })
  worker.add(task, 50)
  const running = worker.run()
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  const samples: Sample[] = []
  const begun = performance.now()
  let enqueued = 0
  let nextSample = begun + sampleMs
  let nextClean = begun + sampleMs
  while (performance.now() - begun < maxSeconds * 1000) {
    const due = Math.floor(((performance.now() - begun) / 1000) * rate) - enqueued
    if (due > 0) {
      enqueued += due
      await enqueue(task, pool, due)
    }
    if (performance.now() >= nextClean) {
      nextClean += sampleMs
      await task.clean(pool)
    }
    if (performance.now() >= nextSample) {
      nextSample += sampleMs
      samples.push(await sample(client, latencies))
      latencies = []
    }
    await sleep(5)
  }
  await worker.stop()
  await running
  await pool.end()
  return growth(samples)
}

/** A third at once, a third with a priority of its own, a third a second ahead. */
async function enqueue(task: Mixed, pool: pg.Pool, count: number): Promise<void> {
  const now = Date.now()
  const third = Math.ceil(count / 3)
  await task.enqueueMany(
    pool,
    Array.from({ length: count }, (_, index) => ({
      mark: now,
      priority: index < third ? 0 : 1,
      planned_to: new Date(index < 2 * third ? now : now + 1_000),
    })),
  )
}

async function sample(client: Client, latencies: readonly number[]): Promise<Sample> {
  const sorted = latencies.toSorted((a, b) => a - b)
  const { heap, indexes } = await tableSizes(client)
  globalThis.gc?.()
  return {
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
    tableMb: heap,
    indexMb: indexes,
  }
}

/** The mean of the last fifth against that of the second: by then what is kept has reached its age. */
function growth(samples: readonly Sample[]): Values {
  const fifth = Math.max(1, Math.floor(samples.length / 5))
  const early = samples.slice(fifth, 2 * fifth)
  const late = samples.slice(-fifth)
  const ratio = (name: keyof Sample): number => mean(late, name) / mean(early, name)
  return {
    p50Ms: mean(late, 'p50'),
    p99Ms: mean(late, 'p99'),
    heapMb: mean(late, 'heapMb'),
    tableMb: mean(late, 'tableMb'),
    indexMb: mean(late, 'indexMb'),
    heapGrowth: ratio('heapMb'),
    tableGrowth: ratio('tableMb'),
    indexGrowth: ratio('indexMb'),
    latencyGrowth: ratio('p50'),
  }
}

function mean(samples: readonly Sample[], name: keyof Sample): number {
  return samples.reduce((sum, one) => sum + one[name], 0) / Math.max(1, samples.length)
}
