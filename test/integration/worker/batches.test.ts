import { type BatchRun, BatchTask, CancelTask, RetryTask } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { countStates, createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startWorker } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

class Batch extends BatchTask {
  readonly sizes: number[] = []
  readonly #work: (runs: ReadonlyArray<BatchRun>) => Promise<void>

  constructor(table: string, work: (runs: ReadonlyArray<BatchRun>) => Promise<void>) {
    super({ table })
    this.#work = work
  }

  override async runMany(runs: ReadonlyArray<BatchRun>): Promise<void> {
    this.sizes.push(runs.length)
    await this.#work(runs)
  }
}

describe('tasks that are done together', () => {
  // B-44, PEERS 25
  it('are finished but for the one that failed, which is retried alone', async () => {
    await createTaskType(database.pool, 'fourth_fails', { backoffBase: '1 hour' })
    const ids = await insertTasks(database.pool, 'fourth_fails', 10)
    const batch = new Batch('fourth_fails', async (runs) => {
      for (const run of runs) if (run.task.id === ids[3]) run.fail(new Error('the fourth'))
    })
    const recorded = await startWorker({ connectionString: database.url }, [batch, 10])
    await Promise.all([recorded.seen('finished', { count: 9 }), recorded.seen('retried')])
    expect(batch.sizes).toEqual([10])
    expect(recorded.ids('retried')).toEqual([ids[3]])
    expect((await readTask(database.pool, 'fourth_fails', ids[3] as string)).last_error).toMatch(/the fourth/)
  })

  it('have each the outcome that was chosen for it, and all the same when the call throws', async () => {
    await createTaskType(database.pool, 'mixed', { backoffBase: '1 hour' })
    await insertTasks(database.pool, 'mixed', 6)
    const batch = new Batch('mixed', async (runs) => {
      runs[0]?.fail(new CancelTask('no'))
      runs[1]?.fail(new RetryTask({ delayMs: 3_600_000 }))
      runs[1]?.fail(new Error('a second word does not count'))
      throw new Error('all others')
    })
    const recorded = await startWorker({ connectionString: database.url }, [batch, 6])
    await Promise.all([recorded.seen('canceled'), recorded.seen('retried', { count: 5 })])
    expect(await countStates(database.pool, 'mixed')).toEqual({ canceled: 1, scheduled: 5 })
  })

  it('stay together while a backlog is worked off', async () => {
    await createTaskType(database.pool, 'backlog')
    await insertTasks(database.pool, 'backlog', 1_000)
    const batch = new Batch('backlog', async () => {})
    const recorded = await startWorker({ connectionString: database.url }, [batch, 50])
    await recorded.seen('finished', { count: 1_000 })
    console.log(`1,000 tasks in ${batch.sizes.length} batches of up to 50`)
    expect(Math.max(...batch.sizes)).toBe(50)
    expect(batch.sizes.length).toBeLessThan(100)
  })
})
