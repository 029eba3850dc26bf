import { inTransaction } from '@pg-tasks/client'
import { Pool } from 'pg'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { countStates, createTaskType, insertTasks, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { startWorker, taskOf } from './start-worker.js'

let database: TestDatabase
const pools: Pool[] = []

beforeAll(async () => {
  database = await createDatabase()
})

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
})

function poolOfOne(connectionString = database.url): Pool {
  const pool = new Pool({ connectionString, max: 1 })
  pool.on('error', () => {})
  pools.push(pool)
  return pool
}

/** Finishes in a transaction on the pool. */
const finishing = (table: string, pool: Pool) =>
  taskOf(table, (claimed, _, self) => inTransaction(pool, (tx) => self.finish(tx, claimed)))

describe('a pool with one connection', () => {
  it('is enough for many handlers, and for the worker that is given it', async () => {
    await createTaskType(database.pool, 'one')
    const pool = poolOfOne()
    const recorded = await startWorker({ pool }, [finishing('one', pool), 8])
    await insertTasks(database.pool, 'one', 60)
    await recorded.seen('finished', { count: 60 })
    expect(pool.totalCount).toBe(1)
    expect([...recorded.of('error'), ...recorded.of('retried'), ...recorded.of('lost')]).toEqual([])
    await recorded.worker.stop()
  })

  it('that somebody holds for longer than the lease costs no task its lease', async () => {
    await createTaskType(database.pool, 'held', { timeout: '1 s' })
    const pool = poolOfOne()
    const held = await pool.connect()
    const recorded = await startWorker({ pool }, [finishing('held', pool), 4])
    await insertTasks(database.pool, 'held', 4)
    await recorded.seen('started', { count: 4 })
    await waitFor(() => pool.waitingCount === 4)
    const lease = () => recorded.worker.health().types[0]?.lease
    const openedAt = Number(lease()?.renewedAt)
    await waitFor(() => Number(lease()?.renewedAt) > openedAt + 2_000, { timeoutMs: 15_000 })
    expect(lease()?.state).toBe('held')
    expect(await countStates(database.pool, 'held')).toEqual({ running: 4 })
    held.release()
    await recorded.seen('finished', { count: 4 })
    for (const row of await readTasks(database.pool, 'held'))
      expect(row).toMatchObject({ execution_count: 1, lost_count: 0 })
    expect(recorded.of('lost')).toEqual([])
    await recorded.worker.stop()
  })

  it('that leads to a read-only server has its tasks retried until it can be written to', async () => {
    await createTaskType(database.pool, 'read_only', { backoffBase: '10 ms', backoffMax: '50 ms', maxRetries: null })
    const role = await database.createRole('handlers')
    await database.pool.query("select tasks.grant_to($1, 'worker', 'tasks', 'read_only')", [role.name])
    await database.pool.query(`alter role ${role.name} set default_transaction_read_only = on`)
    const pool = poolOfOne(role.url)
    // The worker's own connections go elsewhere.
    const recorded = await startWorker({ connectionString: database.url }, [finishing('read_only', pool), 2])
    await insertTasks(database.pool, 'read_only', 5)
    await recorded.seen('retried', { count: 5 })
    expect(recorded.of('retried').every(({ error }) => error.code === '25006')).toBe(true)
    expect((await countStates(database.pool, 'read_only')).finished).toBeUndefined()
    await database.pool.query(`alter role ${role.name} reset default_transaction_read_only`)
    await database.pool.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role.name])
    await recorded.seen('finished', { count: 5 })
    expect(await countStates(database.pool, 'read_only')).toEqual({ finished: 5 })
    await recorded.worker.stop()
    await Promise.all(pools.splice(0).map((one) => one.end()))
    await database.pool.query(`drop owned by ${role.name}`)
  })
})
