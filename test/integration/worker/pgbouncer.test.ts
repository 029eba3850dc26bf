import { inTransaction } from '@pg-tasks/client'
import { Pool } from 'pg'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { countStates, createTaskType, insertTasks, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../listener/pgbouncer.js'
import { Latch, startWorker, taskOf, workersAsleep } from './start-worker.js'

// What a worker does behind a pooler at all is in test/faults/transaction-pooler.test.ts; here the pooler is small, or goes away.
// To run them: apt-get install pgbouncer, or what your system has.
describe.skipIf(pgbouncerMissing)(
  `a worker behind pgbouncer in transaction mode${pgbouncerMissing ? `: ${pgbouncerMissing}` : ''}`,
  () => {
    let database: TestDatabase
    let bouncer: PgBouncer
    const pools: Pool[] = []

    beforeAll(async () => {
      database = await createDatabase()
    })

    afterEach(async () => {
      await Promise.all(pools.splice(0).map((pool) => pool.end()))
      await bouncer.stop()
    })

    function poolBehind({ url }: PgBouncer): Pool {
      const pool = new Pool({ connectionString: url, max: 4 })
      pool.on('error', () => {})
      pools.push(pool)
      return pool
    }

    it('shares one session of the server with its handlers and enqueuers, and runs each task once', async () => {
      bouncer = await startPgBouncer(database.url, { poolMode: 'transaction', poolSize: 1 })
      await createTaskType(database.pool, 'one_session', { timeout: '5 s' })
      const pool = poolBehind(bouncer)
      const runs: string[] = []
      const task = taskOf('one_session', async (claimed, _, self) => {
        await inTransaction(pool, (tx) => self.finish(tx, claimed))
        runs.push(claimed.id)
      })
      const recorded = await startWorker({ connectionString: bouncer.url, pollIntervalMs: 200 }, [task, 4])
      await Promise.all([insertTasks(pool, 'one_session', 20), insertTasks(pool, 'one_session', 20)])
      await recorded.seen('finished', { count: 40, timeoutMs: 30_000 })
      expect(new Set(runs).size).toBe(40)
      expect(runs).toHaveLength(40)
      await recorded.worker.stop()
    })

    it('goes on after the pooler was restarted, with a direct connection and without one', async () => {
      bouncer = await startPgBouncer(database.url, { poolMode: 'transaction' })
      for (const table of ['behind', 'beside']) await createTaskType(database.pool, table, { backoffBase: '10 ms' })
      const pool = poolBehind(bouncer)
      const finishing = (table: string) =>
        taskOf(table, (claimed, _, self) => inTransaction(pool, (tx) => self.finish(tx, claimed)))
      const behind = await startWorker({ connectionString: bouncer.url, pollIntervalMs: 200 }, [finishing('behind'), 2])
      const beside = await startWorker({ pool, listenerConnectionString: database.url }, [finishing('beside'), 2])
      await workersAsleep(database.pool, 'beside')
      await bouncer.stop()
      await waitFor(() => !behind.worker.health().database.answers, { timeoutMs: 15_000 })
      expect(beside.worker.health()).toMatchObject({ listening: true, database: { answers: true } })
      // Woken at once, it runs tasks whose handlers find no connection.
      await insertTasks(database.pool, 'beside', 3)
      await insertTasks(database.pool, 'behind', 3)
      await beside.seen('retried', { count: 3 })
      bouncer = await startPgBouncer(database.url, { poolMode: 'transaction', port: bouncer.port })
      await behind.seen('finished', { count: 3, timeoutMs: 30_000 })
      await beside.seen('finished', { count: 3, timeoutMs: 30_000 })
      await waitFor(() => behind.worker.health().database.answers)
      await Promise.all([behind.worker.stop(), beside.worker.stop()])
    })

    it('renews leases and hears cancels by the heartbeat, so that long runs keep their tasks', async () => {
      bouncer = await startPgBouncer(database.url, { poolMode: 'transaction' })
      await createTaskType(database.pool, 'long', { timeout: '1 s' })
      const latch = new Latch()
      const reasons: unknown[] = []
      const task = taskOf('long', async (_, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason))
        await latch.opened
      })
      const recorded = await startWorker({ connectionString: bouncer.url, pollIntervalMs: 200 }, [task, 2])
      const [kept, canceled] = (await insertTasks(database.pool, 'long', 2)) as [string, string]
      await recorded.seen('started', { count: 2 })
      const lease = () => Number(recorded.worker.health().types[0]?.lease.renewedAt)
      const openedAt = lease()
      await waitFor(() => lease() > openedAt + 2_000, { timeoutMs: 15_000 })
      await database.pool.query('select tasks.cancel_tasks_long($1)', [canceled])
      await waitFor(() => reasons.length === 1, { timeoutMs: 15_000 })
      expect(reasons).toMatchObject([{ code: 'LEASE_LOST', reason: 'canceled' }])
      latch.open()
      await recorded.seen('finished')
      expect(recorded.ids('finished')).toEqual([kept])
      expect(await countStates(database.pool, 'long')).toEqual({ finished: 1, canceled: 1 })
      for (const row of await readTasks(database.pool, 'long'))
        expect(row).toMatchObject({ execution_count: 1, lost_count: 0 })
      await recorded.worker.stop()
    })
  },
)
