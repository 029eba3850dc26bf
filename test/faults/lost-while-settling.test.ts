import { type Claimed, inTransaction, type Task } from '@pg-tasks/client'
import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Latch, startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

let database: TestDatabase
let pool: Pool

beforeAll(async () => {
  database = await createDatabase()
  pool = new Pool({ connectionString: database.url, max: 4 })
})

afterAll(() => pool.end())

/** The lease is over, and another has the task: its worker hears of it with the next heartbeat. */
async function takeOver(task: Task<object>): Promise<Claimed<object>> {
  await database.pool.query(
    "update tasks.leases set leased_until = now() - interval '1 second' where table_id = $1::regclass",
    [`tasks.${task.options.table}`],
  )
  await database.pool.query(`select tasks.rescue_tasks_${task.options.table}()`)
  const [taken] = await task.acquire(database.pool)
  if (taken === undefined) throw new Error('nothing was taken over')
  return taken
}

// What the database refused is not the run's own doing, whatever the task looks like afterwards.
it.each(['retry', 'finish', 'cancel'] as const)(
  'tells a run as lost whose %s was refused, and which then threw',
  async (verb) => {
    const table = `refused_${verb}`
    await createTaskType(database.pool, table)
    const [id = ''] = await insertTasks(database.pool, table)
    const own = new Latch()
    const task = taskOf(table, async (claimed, _, self) => {
      await own.opened
      await inTransaction<PoolClient, unknown>(pool, (tx) => self[verb](tx, claimed))
    })
    const other = taskOf(table)
    const recorded = await startWorker({ connectionString: database.url, heartbeatIntervalMs: 20_000 }, [task, 1])
    await recorded.seen('started')
    await other.finish(database.pool, await takeOver(other))
    own.open()

    const [event] = await recorded.seen('lost')
    expect(event).toMatchObject({ id, attempt: 1 })
    await recorded.worker.stop()
    for (const name of ['retried', 'finished', 'canceled'] as const) expect(recorded.of(name)).toEqual([])
    expect(await readTask(database.pool, table, id)).toMatchObject({ state: 'finished', execution_count: 2 })
  },
)

// The transaction of a retry decides: a task that is with another run looks the same either way.
it.each([
  ['rolled back', 'lost'],
  ['committed', 'retried'],
] as const)('tells a run whose retry was %s, and whose task is with another run, as %s', async (end, told) => {
  const table = `taken_${told}`
  await createTaskType(database.pool, table)
  const [id = ''] = await insertTasks(database.pool, table)
  const own = new Latch()
  const other = taskOf(table)
  let taken: Claimed<object> | undefined
  const task = taskOf(table, async (claimed, _, self) => {
    await own.opened
    const client = await pool.connect()
    await client.query('begin')
    await self.retry(client, claimed, { delayMs: 0 })
    if (end === 'committed') {
      await client.query('commit')
      taken = (await other.acquire(database.pool))[0]
    } else {
      await client.query('rollback')
      taken = await takeOver(other)
    }
    client.release()
  })
  // A slot is free only when the run has been told.
  const recorded = await startWorker({ connectionString: database.url, heartbeatIntervalMs: 20_000 }, [task, 1])
  await recorded.seen('started')
  own.open()

  const [event] = await recorded.seen(told)
  expect(event).toMatchObject({ id, attempt: 1 })
  await recorded.worker.stop()
  expect(recorded.of(told === 'lost' ? 'retried' : 'lost')).toEqual([])
  expect(await readTask(database.pool, table, id)).toMatchObject({ state: 'running', run_token: taken?.run_token })
})
