import { inTransaction } from '@pg-tasks/client'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newWorker, startWorker, taskOf } from '../integration/worker/start-worker.js'
import { countStates, createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { startTestServer, type TestServer } from '../support/test-server.js'
import { waitFor } from '../support/wait-for.js'

const TASKS = 300

let server: TestServer
let database: TestDatabase
let pool: Pool

beforeAll(async () => {
  server = await startTestServer()
  database = await createDatabase({ serverUrl: server.url })
  await database.pool.query('create table effects (of text, task_id bigint)')
  pool = new Pool({ connectionString: database.url, max: 4 })
  pool.on('error', () => {})
})

afterAll(async () => {
  await pool.end()
  await database.drop()
  await server.remove()
})

/** A type whose tasks write one effect each in the transaction that finishes them, and a worker that runs them. */
async function startLoad(table: string) {
  await createTaskType(database.pool, table, {
    timeout: '2 s',
    backoffBase: '50 ms',
    backoffMax: '200 ms',
    maxRetries: null,
  })
  await insertTasks(database.pool, table, TASKS)
  const task = taskOf(table, async (claimed, _, self) => {
    await inTransaction(pool, async (tx) => {
      await tx.query('insert into effects values ($1, $2)', [table, claimed.id])
      await tx.query('select pg_sleep(0.02)')
      await self.finish(tx, claimed)
    })
  })
  return startWorker({ connectionString: database.url, pollIntervalMs: 1_000 }, [task, 8])
}

async function expectEachOnce(table: string): Promise<void> {
  await waitFor(async () => (await countStates(database.pool, table)).finished === TASKS, {
    timeoutMs: 30_000,
    what: 'all tasks to be finished',
  })
  const { rows } = await database.pool.query(
    'select count(*)::int, count(distinct task_id)::int as tasks from effects where of = $1',
    [table],
  )
  expect(rows).toEqual([{ count: TASKS, tasks: TASKS }])
}

describe('a busy worker', () => {
  // B-51, B-52
  it('loses and repeats nothing while all its backends and those of its handlers are terminated', {
    timeout: 60_000,
  }, async () => {
    const recorded = await startLoad('terminated')
    for (let round = 0; round < 8; round++) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      await database.pool.query(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'test pool'`)
    }
    await expectEachOnce('terminated')
    expect(pool.totalCount).toBeLessThanOrEqual(4)
    await expect(pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] })
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where application_name = 'pg-tasks worker' and datname = current_database()`,
      )
      return rows.length === 4
    })
    await recorded.worker.stop()
  })

  // PEERS 32
  it.each([
    [
      'is restarted',
      async () => {
        await server.stop()
        await server.restart()
      },
    ],
    [
      'is killed and comes back after two seconds',
      async () => {
        server.kill()
        await new Promise((resolve) => setTimeout(resolve, 2_000))
        await server.restart()
      },
    ],
  ])('loses and repeats nothing while the server %s', { timeout: 60_000 }, async (how, interrupt) => {
    const table = how.replaceAll(' ', '_')
    const recorded = await startLoad(table)
    await waitFor(() => recorded.of('finished').length > 20)
    const linesBefore = recorded.lines.filter((line) => line.level !== 'debug').length
    await interrupt()
    await expectEachOnce(table)
    const lines = recorded.lines.filter((line) => line.level !== 'debug').length - linesBefore
    console.log(`${lines} lines logged while the server ${how}, ${recorded.of('retried').length} tasks retried`)
    await recorded.worker.stop()
  })

  // B-19
  it('logs little and goes on by itself after the database was away, idle', { timeout: 60_000 }, async () => {
    await createTaskType(database.pool, 'idle_a')
    await createTaskType(database.pool, 'idle_b')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('idle_a'), 1], [taskOf('idle_b'), 1])
    const before = process.cpuUsage()
    await server.stop()
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    const cpu = process.cpuUsage(before)
    await server.restart()
    const lines = recorded.lines.filter((line) => line.level !== 'debug')
    console.log(
      `${lines.length} lines in 6 s without a database, ${Math.round((cpu.user + cpu.system) / 1000)} ms of CPU`,
    )
    expect(lines.length).toBeLessThanOrEqual(24)
    await insertTasks(database.pool, 'idle_a')
    await insertTasks(database.pool, 'idle_b')
    await recorded.seen('finished', { count: 2 })
    await recorded.worker.stop()
  })
})

describe('a worker that is started while there is no database', () => {
  it('begins when it comes', { timeout: 60_000 }, async () => {
    await createTaskType(database.pool, 'early')
    await insertTasks(database.pool, 'early')
    await server.stop()
    const recorded = newWorker({ connectionString: database.url }, [taskOf('early'), 1])
    recorded.running = recorded.worker.run()
    await recorded.seen('error')
    expect(recorded.of('not_listening')).toHaveLength(1)
    await server.restart()
    await recorded.seen('finished', { timeoutMs: 15_000 })
    await recorded.worker.stop()
  })
})
