import type { WorkerHealth } from '@pg-tasks/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { waitFor } from '../../support/wait-for.js'
import { aborted, newWorker, type RecordedWorker, startWorker, taskOf } from './start-worker.js'

let server: TestServer
let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  server = await startTestServer()
  database = await createDatabase({ serverUrl: server.url })
  proxy = await startProxy(database.url)
})

afterEach(() => proxy.pass())

afterAll(async () => {
  await proxy.close()
  await database.drop()
  await server.remove()
})

/** Waits until the worker's health is so; fails with what it was. */
async function healthy({ worker }: RecordedWorker, test: (health: WorkerHealth) => boolean): Promise<WorkerHealth> {
  try {
    return await waitFor(() => (test(worker.health()) ? worker.health() : undefined), { timeoutMs: 40_000 })
  } catch (cause) {
    throw new Error(JSON.stringify(worker.health()), { cause })
  }
}

const ownSessions = async (): Promise<number> =>
  (await database.pool.query("select from pg_stat_activity where application_name = 'pg-tasks worker'")).rowCount ?? 0

describe('the health of a worker', { timeout: 90_000 }, () => {
  it('tells that only the listener is cut off, and that it is back', async () => {
    await createTaskType(database.pool, 'cut')
    const recorded = await startWorker({ connectionString: proxy.url }, [taskOf('cut'), 1])
    // The listener's and three more, of which none has to come back.
    await waitFor(async () => (await ownSessions()) === 4)
    await proxy.refuse()
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'pg-tasks worker' and (query ilike 'listen%' or query ilike 'notify%')`,
    )
    const cutOff = await healthy(recorded, (health) => !health.listening && health.database.answers)
    expect(cutOff).toMatchObject({ state: 'running', reconnects: 0, types: [{ error: undefined }] })
    expect(cutOff.lastPingAt).toBeInstanceOf(Date)
    await proxy.pass()
    const back = await healthy(recorded, (health) => health.listening)
    expect(back).toMatchObject({ reconnects: 1, database: { answers: true } })
    expect(Number(back.lastPingAt)).toBeGreaterThan(Number(cutOff.lastPingAt))
    await recorded.worker.stop()
  })

  it('tells of a black hole that nothing answers, nothing arrives, and that the lease is overdue', async () => {
    await createTaskType(database.pool, 'swallowed', { timeout: '1 s' })
    const task = taskOf('swallowed', (_, { signal }) => aborted(signal))
    const recorded = await startWorker({ connectionString: proxy.url }, [task, 1])
    await insertTasks(database.pool, 'swallowed')
    await recorded.seen('started')
    await proxy.blackhole()
    await healthy(recorded, (health) => health.types[0]?.lease.state === 'overdue')
    await healthy(recorded, (health) => !health.database.answers)
    const silent = await healthy(recorded, (health) => !health.listening)
    expect(silent).toMatchObject({ state: 'running', types: [{ running: 1, lease: { state: 'overdue' } }] })
    expect(silent.database.error).toMatch(/answer|lost|connect/)
    expect(Date.now() - Number(silent.database.lastAnswerAt)).toBeGreaterThan(5_000)
    await proxy.pass()
    await healthy(recorded, (health) => health.listening && health.database.answers)
    await healthy(recorded, (health) => health.types[0]?.lease.state === 'held')
    await recorded.worker.stop({ timeoutMs: 0 })
  })

  it('tells of an idle worker too that the network has become silent, within a ping', async () => {
    await createTaskType(database.pool, 'idle_swallowed')
    const recorded = await startWorker({ connectionString: proxy.url }, [taskOf('idle_swallowed'), 1])
    await proxy.blackhole()
    const before = performance.now()
    await healthy(recorded, (health) => !health.listening && !health.database.answers)
    console.log(`an idle worker's health told of a black hole after ${Math.round(performance.now() - before)} ms`)
    await proxy.pass()
    await healthy(recorded, (health) => health.listening && health.database.answers)
    await recorded.worker.stop()
  })

  it('tells that the database is gone, and that it is back, of each type', async () => {
    for (const table of ['gone_a', 'gone_b']) await createTaskType(database.pool, table)
    const recorded = await startWorker(
      { connectionString: database.url, pollIntervalMs: 500 },
      [taskOf('gone_a'), 1],
      [taskOf('gone_b'), 1],
    )
    await healthy(recorded, ({ types }) => types.every((type) => type.lastAcquireAt !== undefined))
    await server.stop()
    const gone = await healthy(
      recorded,
      ({ listening, types }) => !listening && types.every((type) => type.error !== undefined && !type.asleep),
    )
    expect(gone).toMatchObject({ state: 'running', database: { answers: false, error: expect.stringMatching(/\S/) } })
    await server.restart()
    await healthy(
      recorded,
      ({ listening, database: { answers, error }, types }) =>
        listening && answers && error === undefined && types.every((type) => type.error === undefined),
    )
    // All four sessions are there again, although nothing runs.
    await waitFor(async () => (await ownSessions()) === 4)
    await recorded.worker.stop()
  })

  it('tells of a worker that was started without a database that there is none', async () => {
    await createTaskType(database.pool, 'none_yet')
    await server.stop()
    const recorded = newWorker({ connectionString: database.url }, [taskOf('none_yet'), 1])
    const running = recorded.worker.run()
    const none = await healthy(recorded, (health) => health.database.error !== undefined)
    expect(none).toMatchObject({
      state: 'running',
      listening: false,
      database: { answers: false, lastAnswerAt: undefined },
      types: [{ registered: false }],
    })
    await server.restart()
    await healthy(recorded, ({ listening, database, types }) => listening && database.answers && !!types[0]?.registered)
    await recorded.worker.stop()
    await running
  })
})
