import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import { aborted, Latch, type RecordedWorker, startWorker, taskOf } from '../worker/start-worker.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startProxy(database.url)
})

afterEach(() => proxy.pass())
afterAll(() => proxy.close())

const OWN_SESSIONS = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'pg-tasks worker'`

interface Running {
  readonly id: string
  readonly reason: Promise<unknown>
  readonly worker: RecordedWorker
}

/** A worker behind the proxy with one task that runs until its signal is aborted. */
async function runTask(table: string, heartbeatIntervalMs: number): Promise<Running> {
  await createTaskType(database.pool, table)
  const started = new Latch()
  let hear: (reason: unknown) => void = () => {}
  const reason = new Promise<unknown>((resolve) => {
    hear = resolve
  })
  const task = taskOf<object>(table, async (_, { signal }) => {
    started.open()
    hear(await aborted(signal))
  })
  const worker = await startWorker({ connectionString: proxy.url, heartbeatIntervalMs }, [task, 1])
  const [id] = (await insertTasks(database.pool, table)) as [string]
  await started.opened
  // The listener's session and the three others are there, also the one that renews the lease: what follows lets no new one in.
  await waitFor(async () => (await database.pool.query(OWN_SESSIONS)).rowCount === 4)
  return { id, reason, worker }
}

/** Cuts the listener's session and lets no new one in; the worker's others stay. */
async function deafen({ worker }: Running): Promise<void> {
  await proxy.refuse()
  const { rowCount } = await database.pool.query(
    `select pg_terminate_backend(pid) from (${OWN_SESSIONS} and (query ilike 'listen%' or query ilike 'notify%')) s`,
  )
  expect(rowCount).toBe(1)
  await worker.seen('not_listening')
}

it('a cancel aborts the signal by the heartbeat where notifications do not arrive', async () => {
  const running = await runTask('deaf', 200)
  await deafen(running)
  await database.pool.query('select tasks.cancel_tasks_deaf($1)', [running.id])
  expect(await within(running.reason, { timeoutMs: 15_000 })).toMatchObject({ code: 'LEASE_LOST', reason: 'canceled' })
})

it('a cancel that nobody heard aborts the signal as soon as notifications arrive again', async () => {
  // No heartbeat while the test lasts.
  const running = await runTask('missed', 30_000)
  await deafen(running)
  await database.pool.query('select tasks.reset_tasks_missed($1)', [running.id])
  await proxy.pass()
  expect(await within(running.reason, { timeoutMs: 15_000 })).toMatchObject({ reason: 'reset' })
})

it.each<[string, string, string]>([
  ['canceled by an update of the row', 'update tasks.TABLE set canceled = true where id = $1', 'canceled'],
  ['deleted', 'delete from tasks.TABLE where id = $1', 'gone'],
  ['taken over', 'update tasks.TABLE set run_token = gen_random_uuid() where id = $1', 'taken_over'],
])('the heartbeat aborts the signal of a task that was %s, of which nobody is told', async (_, statement, reason) => {
  const table = `by_${reason}`
  const running = await runTask(table, 200)
  await database.pool.query(statement.replace('TABLE', table), [running.id])
  expect(await within(running.reason, { timeoutMs: 15_000 })).toMatchObject({ code: 'LEASE_LOST', reason })
})
