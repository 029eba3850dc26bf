import { type Claimed, Task } from '@pg-tasks/client'
import { describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { spawnScript } from '../../support/worker-process.js'
import { aborted, type Handler, startWorker, taskOf } from '../worker/start-worker.js'

const database = await createDatabase()
const { pool } = database
const connection = { connectionString: database.url }

const LETTER = 'failed_table text not null, failed_id bigint not null, failed_reason text not null, failed_error text'

interface Letter {
  readonly failed_id: string
  readonly failed_reason: string
  readonly failed_error: string | null
  readonly execution_count: number
}

/** Receives the letters as a worker's handler does. */
class Receive extends Task<Letter & Record<string, unknown>> {
  readonly letters: Letter[] = []
  override async run(task: Claimed<Letter & Record<string, unknown>>): Promise<void> {
    this.letters.push(task)
  }
}

async function types(table: string, settings: object): Promise<Receive> {
  await createTaskType(pool, table, { maxRetries: 1, backoffBase: '1 ms', ...settings })
  await createTaskType(pool, `${table}_letter`, { columns: LETTER })
  const receive = new Receive({ table: `${table}_letter` })
  await taskOf<object>(table).setOnFailure(pool, receive)
  return receive
}

describe('a worker of another type is given the letter of a task that failed for good', () => {
  it.each<[string, string, Handler<object>, object, RegExp]>([
    [
      'because its handler threw',
      'error',
      async () => {
        throw new Error('no such address')
      },
      {},
      /Error: no such address/,
    ],
    [
      'because the run limit passed',
      'run_limit',
      async (_, { signal }) => {
        throw await aborted(signal)
      },
      { runLimit: '50 ms' },
      /has run longer than its limit of 50 ms/,
    ],
  ])('%s', async (_, reason, handler, settings, error) => {
    const table = `fails_by_${reason}`
    const receive = await types(table, settings)
    const worker = await startWorker(connection, [taskOf<object>(table, handler), 1], [receive, 1])
    const [id] = (await insertTasks(pool, table)) as [string]
    await worker.seen('finished')
    expect(receive.letters).toMatchObject([
      { failed_id: id, failed_reason: reason, failed_error: expect.stringMatching(error) },
    ])
    expect(await readTask(pool, table, id)).toMatchObject({
      state: 'failed',
      execution_count: 2,
      failure_reason: reason,
    })
    expect(worker.of('failed')).toMatchObject([{ id, reason }])
  })

  it('because its worker died', async () => {
    const receive = await types('fails_by_death', { timeout: '300 ms', maxRetries: 0 })
    const [id] = (await insertTasks(pool, 'fails_by_death')) as [string]
    const victim = spawnScript(new URL('./workers/run-for-ever.ts', import.meta.url), {
      env: { DATABASE_URL: database.url, TABLE: 'fails_by_death' },
    })
    expect(await victim.message()).toBe(id)
    await victim.kill()
    const worker = await startWorker(connection, [taskOf<object>('fails_by_death'), 1], [receive, 1])
    await worker.seen('finished')
    expect(receive.letters).toMatchObject([
      { failed_id: id, failed_reason: 'lost', failed_error: 'lease ended without an outcome (execution 1)' },
    ])
    expect(await readTask(pool, 'fails_by_death', id)).toMatchObject({ state: 'failed', failure_reason: 'lost' })
  })
})
