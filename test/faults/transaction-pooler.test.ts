import { inTransaction } from '@pg-tasks/client'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../integration/listener/pgbouncer.js'
import { startWorker, taskOf, workersAsleep } from '../integration/worker/start-worker.js'
import { countStates, createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

// B-08. To run them: apt-get install pgbouncer, or what your system has.
describe.skipIf(pgbouncerMissing)(
  `a worker behind pgbouncer in transaction mode${pgbouncerMissing ? `: ${pgbouncerMissing}` : ''}`,
  () => {
    let database: TestDatabase
    let bouncer: PgBouncer
    let pool: Pool

    beforeAll(async () => {
      database = await createDatabase()
      bouncer = await startPgBouncer(database.url, { poolMode: 'transaction' })
      pool = new Pool({ connectionString: bouncer.url, max: 4 })
      pool.on('error', () => {})
    })

    afterAll(async () => {
      await pool.end()
      await bouncer.stop()
    })

    /** Finishes in a transaction of its own, by way of the pooler. */
    const finishing = (table: string) =>
      taskOf(table, async (claimed, _, self) => {
        await inTransaction(pool, (tx) => self.finish(tx, claimed))
      })

    it('runs its tasks by the poll, says once that nothing wakes it, and leaves nothing on the pooled sessions', async () => {
      await createTaskType(database.pool, 'polled', { timeout: '2 s' })
      const recorded = await startWorker({ connectionString: bouncer.url, pollIntervalMs: 300 }, [
        finishing('polled'),
        4,
      ])
      for (let round = 1; round <= 3; round++) {
        await insertTasks(database.pool, 'polled', 20)
        await recorded.seen('finished', { count: 20 * round })
      }
      expect(await countStates(database.pool, 'polled')).toEqual({ finished: 60 })
      expect(recorded.of('error')).toEqual([])
      expect(recorded.of('not_listening')).toMatchObject([{ code: 'NOT_DELIVERING' }])
      expect(recorded.worker.health().listening).toBe(false)
      expect(recorded.lines.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(1)
      await recorded.worker.stop()
      // A lock or LISTEN that stayed on a session of the pooler's would be the next client's, who knows nothing of it.
      const { rows } = await database.pool.query(
        `select (select count(*)::int from pg_locks l join pg_stat_activity a using (pid)
           where l.locktype = 'advisory' and a.datname = current_database()) as locks,
         (select count(*)::int from tasks.leases) as leases`,
      )
      expect(rows).toEqual([{ locks: 0, leases: 0 }])
      for (let query = 0; query < 8; query++) {
        const { rows: settings } = await pool.query(
          `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
             (select count(*)::int from pg_listening_channels()) as channels`,
        )
        expect(settings).toEqual([{ statement: '0', lock: '0', channels: 0 }])
      }
    })

    it('is woken where it has a direct connection string for itself', async () => {
      await createTaskType(database.pool, 'woken', { timeout: '2 s' })
      const recorded = await startWorker({ pool, listenerConnectionString: database.url }, [finishing('woken'), 4])
      await workersAsleep(database.pool, 'woken')
      await insertTasks(pool, 'woken', 20)
      await recorded.seen('finished', { count: 20 })
      expect(recorded.worker.health().listening).toBe(true)
      expect([...recorded.of('error'), ...recorded.of('not_listening')]).toEqual([])
      await recorded.worker.stop()
    })
  },
)
