import { type BatchRun, BatchTask, CancelTask, RetryTask } from '@pg-tasks/client'
import { beforeAll, expect, it } from 'vitest'
import { createTaskType, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startWorker } from '../worker/start-worker.js'

interface Product {
  product: number
}
type Runs = ReadonlyArray<BatchRun<Product>>

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

class Batch extends BatchTask<Product> {
  readonly batches: number[][] = []
  readonly #handler: (runs: Runs) => unknown

  constructor(table: string, handler: (runs: Runs) => unknown = () => {}) {
    super({ table })
    this.#handler = handler
  }

  override async runMany(runs: Runs): Promise<void> {
    this.batches.push(runs.map(({ task }) => task.product))
    await this.#handler(runs)
  }
}

async function create(table: string, count: number): Promise<void> {
  await createTaskType(database.pool, table, {
    columns: 'product integer',
    backoffBase: '1 hour',
    backoffMax: '1 hour',
  })
  await database.pool.query(`insert into tasks.${table} (product) select g from generate_series(1, $1) g`, [count])
}

it('tasks that were acquired together are one call, up to the concurrency', async () => {
  await create('together', 25)
  const batch = new Batch('together')
  const recorded = await startWorker({ connectionString: database.url }, [batch, 10])
  await recorded.seen('finished', { count: 25 })
  expect(batch.batches[0]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(Math.max(...batch.batches.map(({ length }) => length))).toBe(10)
  expect(batch.batches.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1))
})

it('each task has an outcome of its own, and the first that is given counts', async () => {
  await create('outcomes', 5)
  const batch = new Batch('outcomes', (runs) => {
    runs[1]?.fail(new Error('boom'))
    runs[1]?.fail(new CancelTask('too late'))
    runs[2]?.fail(new RetryTask({ delayMs: 60_000 }))
    runs[3]?.fail(new CancelTask('gone'))
  })
  const recorded = await startWorker({ connectionString: database.url }, [batch, 5])
  await recorded.seen('finished', { count: 2 })
  await recorded.seen('retried', { count: 2 })
  await recorded.seen('canceled')
  expect(
    (await readTasks(database.pool, 'outcomes')).map(({ state, last_error }) => [
      state,
      typeof last_error === 'string' && last_error.includes('boom'),
    ]),
  ).toEqual([
    ['finished', false],
    ['scheduled', true],
    ['scheduled', false],
    ['canceled', false],
    ['finished', false],
  ])
})

it('a throw retries the tasks that have no outcome of their own', async () => {
  await create('thrown', 3)
  const batch = new Batch('thrown', (runs) => {
    runs[0]?.fail(new CancelTask('gone'))
    throw new Error('all of them')
  })
  const recorded = await startWorker({ connectionString: database.url }, [batch, 3])
  await recorded.seen('retried', { count: 2 })
  await recorded.seen('canceled')
  expect((await readTasks(database.pool, 'thrown')).map(({ state }) => state)).toEqual([
    'canceled',
    'scheduled',
    'scheduled',
  ])
})

it('a stop in mid-batch aborts the signals of all its tasks and gives them back, with the execution not lost', async () => {
  await create('stopped', 4)
  let aborted = 0
  const batch = new Batch('stopped', (runs) =>
    Promise.all(
      runs.map(
        ({ context: { signal } }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              aborted += 1
              reject(signal.reason)
            })
          }),
      ),
    ),
  )
  const recorded = await startWorker({ connectionString: database.url }, [batch, 4])
  await recorded.seen('started', { count: 4 })
  await recorded.worker.stop({ timeoutMs: 0 })
  expect(aborted).toBe(4)
  expect((await readTasks(database.pool, 'stopped')).map(({ state }) => state)).toEqual(Array(4).fill('ready'))
})

it('a stop with time lets the batch end', async () => {
  await create('ended', 4)
  let release = () => {}
  const ready = new Promise<void>((resolve) => {
    release = resolve
  })
  const batch = new Batch('ended', () => ready)
  const recorded = await startWorker({ connectionString: database.url }, [batch, 4])
  await recorded.seen('started', { count: 4 })
  const stopped = recorded.worker.stop({ timeoutMs: 10_000 })
  release()
  await stopped
  expect((await readTasks(database.pool, 'ended')).map(({ state }) => state)).toEqual(Array(4).fill('finished'))
})
