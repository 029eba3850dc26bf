import { inTransaction } from '@pg-tasks/client'
import { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { Latch, startWorker, taskOf, workersAsleep } from '../integration/worker/start-worker.js'
import { countStates, createTaskType, insertTasks, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase, type TestRole } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

/** A role that may run the tasks of these tables. */
async function workerRole(...tables: string[]): Promise<TestRole> {
  const role = await database.createRole('worker')
  await database.pool.query(`
    grant usage on schema tasks to ${role.name};
    grant select on all tables in schema tasks to ${role.name};
    grant insert, update, delete on tasks.leases, ${tables.map((table) => `tasks.${table}`).join(', ')} to ${role.name};
    grant execute on all functions in schema tasks to ${role.name}`)
  return role
}

// B-23
describe.each(['repeatable read', 'serializable'])(
  'a database whose transactions are %s unless told otherwise',
  (isolation) => {
    it('has its tasks run once each, by several workers and without errors', async () => {
      const own = await createDatabase()
      await createTaskType(own.pool, 'strict')
      await own.pool.query(`alter database ${own.name} set default_transaction_isolation = '${isolation}'`)
      const runs: string[] = []
      const task = taskOf('strict', async ({ id }) => runs.push(id))
      const workers = await Promise.all([1, 2, 3, 4].map(() => startWorker({ connectionString: own.url }, [task, 5])))
      await Promise.all(Array.from({ length: 20 }, () => insertTasks(own.pool, 'strict', 100)))
      await waitFor(() => workers.reduce((sum, one) => sum + one.of('finished').length, 0) === 2_000, {
        timeoutMs: 15_000,
      })
      expect(new Set(runs).size).toBe(2_000)
      expect(runs).toHaveLength(2_000)
      expect(workers.flatMap((one) => [...one.of('error'), ...one.of('lost')])).toEqual([])
      await Promise.all(workers.map((one) => one.worker.stop()))
    })

    it('lets a handler finish in such a transaction of its own', async () => {
      const own = await createDatabase()
      await createTaskType(own.pool, 'own_strict')
      await own.pool.query('create table counter (n int); insert into counter values (0)')
      await own.pool.query(`alter database ${own.name} set default_transaction_isolation = '${isolation}'`)
      const pool = new Pool({ connectionString: own.url, max: 4 })
      pool.on('error', () => {})
      await insertTasks(own.pool, 'own_strict', 10)
      const task = taskOf('own_strict', async (claimed, _, self) => {
        for (let tries = 1; ; tries++) {
          try {
            await inTransaction(pool, async (tx) => {
              await tx.query('update counter set n = n + 1')
              await self.finish(tx, claimed)
            })
            return
          } catch (error) {
            if ((error as { code?: string }).code !== '40001' || tries > 50) throw error
          }
        }
      })
      const recorded = await startWorker({ connectionString: own.url }, [task, 4])
      await recorded.seen('finished', { count: 10 })
      expect((await own.pool.query('select n from counter')).rows).toEqual([{ n: 10 }])
      expect(recorded.of('retried')).toEqual([])
      await pool.end()
      await recorded.worker.stop()
    })
  },
)

// B-73
describe('a role with narrow timeouts', () => {
  it('has its tasks run in spite of them, and none counted as failed because of them', async () => {
    await createTaskType(database.pool, 'narrow', { backoffBase: '10 ms' })
    const role = await workerRole('narrow')
    await database.pool.query(
      `alter role ${role.name} set statement_timeout = '50ms'; alter role ${role.name} set lock_timeout = '20ms'`,
    )
    const recorded = await startWorker({ connectionString: role.url }, [taskOf('narrow', async () => {}), 3])
    const client = await database.client()
    const ids = await insertTasks(database.pool, 'narrow', 30)
    await client.query('begin')
    await client.query('lock table tasks.narrow in access exclusive mode')
    await new Promise((resolve) => setTimeout(resolve, 500))
    await client.query('commit')
    await insertTasks(database.pool, 'narrow', 30)
    await recorded.seen('finished', { count: 60, timeoutMs: 15_000 })
    expect(new Set(recorded.ids('finished')).size).toBe(60)
    expect(recorded.ids('finished')).toEqual(expect.arrayContaining(ids))
    expect([...recorded.of('retried'), ...recorded.of('failed')]).toEqual([])
    await recorded.worker.stop()
  })

  // B-72
  it('loses nothing when the server ends an idle transaction of a handler', async () => {
    await createTaskType(database.pool, 'idles', { backoffBase: '10 ms' })
    await database.pool.query('create table idle_effects (attempt int)')
    const role = await workerRole('idles')
    await database.pool.query(
      `grant all on idle_effects to ${role.name}; alter role ${role.name} set idle_in_transaction_session_timeout = '300ms'`,
    )
    const pool = new Pool({ connectionString: role.url, max: 2 })
    pool.on('error', () => {})
    const [id] = await insertTasks(database.pool, 'idles')
    const errors: unknown[] = []
    const task = taskOf('idles', async (claimed, { attempt }, self) => {
      await inTransaction(pool, async (tx) => {
        await tx.query('insert into idle_effects values ($1)', [attempt])
        if (attempt === 1) await new Promise((resolve) => setTimeout(resolve, 1_000))
        await self.finish(tx, claimed)
      }).catch((error: unknown) => {
        errors.push(error)
        throw error
      })
    })
    const recorded = await startWorker({ connectionString: role.url }, [task, 1])
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id, attempt: 2 })
    expect(errors).toHaveLength(1)
    expect((await database.pool.query('select attempt from idle_effects')).rows).toEqual([{ attempt: 2 }])
    expect(recorded.of('error')).toEqual([])
    await pool.end()
    await recorded.worker.stop()
  })

  it('keeps its worker connected when quiet sessions are ended', async () => {
    await createTaskType(database.pool, 'quiet')
    const role = await workerRole('quiet')
    await database.pool.query(`alter role ${role.name} set idle_session_timeout = '300ms'`)
    const recorded = await startWorker({ connectionString: role.url }, [taskOf('quiet'), 1])
    await workersAsleep(database.pool, 'quiet')
    for (let round = 1; round <= 3; round++) {
      await new Promise((resolve) => setTimeout(resolve, 600))
      await insertTasks(database.pool, 'quiet')
      await recorded.seen('finished', { count: round })
    }
    await recorded.worker.stop()
  })
})

// B-56
describe('a role whose rights are revoked', () => {
  it('opens no connection after another meanwhile, and goes on by itself when they are granted again', async () => {
    const tables = ['revoked_a', 'revoked_b', 'revoked_c', 'revoked_d']
    for (const table of tables) await createTaskType(database.pool, table)
    const role = await workerRole(...tables)
    const recorded = await startWorker(
      { connectionString: role.url, pollIntervalMs: 100 },
      ...tables.map((table) => [taskOf(table), 1] as const),
    )
    for (const table of tables) await workersAsleep(database.pool, table)
    const backends = async () =>
      (await database.pool.query(`select pid from pg_stat_activity where usename = $1 order by pid`, [role.name])).rows
    const before = await backends()
    await database.pool.query(
      `revoke select on ${tables.map((table) => `tasks.${table}`).join(', ')} from ${role.name}`,
    )
    for (const table of tables) await insertTasks(database.pool, table)
    await recorded.seen('error', { count: 8 })
    expect(await backends()).toEqual(before)
    const warned = recorded.lines.filter((line) => line.level === 'warn').length
    expect(warned).toBeLessThanOrEqual(12)
    await database.pool.query(`grant select on ${tables.map((table) => `tasks.${table}`).join(', ')} to ${role.name}`)
    await recorded.seen('finished', { count: 4, timeoutMs: 8_000 })
    await recorded.worker.stop()
  })

  it('finishes what its handlers have done meanwhile, without running it again', async () => {
    await createTaskType(database.pool, 'revoked_meanwhile', { timeout: '1 minute' })
    const role = await workerRole('revoked_meanwhile')
    const ids = await insertTasks(database.pool, 'revoked_meanwhile', 10)
    const latch = new Latch()
    const runs: string[] = []
    const task = taskOf('revoked_meanwhile', async ({ id }) => {
      runs.push(id)
      await latch.opened
    })
    const recorded = await startWorker({ connectionString: role.url }, [task, 10])
    await recorded.seen('started', { count: 10 })
    await database.pool.query(`revoke update on tasks.revoked_meanwhile from ${role.name}`)
    latch.open()
    await recorded.seen('error', { where: (error) => error.code === '42501' })
    await database.pool.query(`grant update on tasks.revoked_meanwhile to ${role.name}`)
    await recorded.seen('finished', { count: 10, timeoutMs: 15_000 })
    expect(runs.toSorted()).toEqual(ids.toSorted())
    expect(await countStates(database.pool, 'revoked_meanwhile')).toEqual({ finished: 10 })
    expect(await readTask(database.pool, 'revoked_meanwhile', ids[0] as string)).toMatchObject({ execution_count: 1 })
    await recorded.worker.stop()
  })
})
