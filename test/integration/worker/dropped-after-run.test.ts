import { beforeAll, expect, it } from 'vitest'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { Latch, startWorker, taskOf } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

it('a table that is dropped while the lease of its last run is still kept ends no process, and is served when it is back', async () => {
  await createTaskType(database.pool, 'dropped')
  await insertTasks(database.pool, 'dropped')
  const latch = new Latch()
  const recorded = await startWorker({ connectionString: database.url }, [taskOf('dropped', () => latch.opened), 1])
  const lease = () => recorded.worker.health().types[0]?.lease
  await recorded.seen('started')
  const opened = lease()?.renewedAt
  await waitFor(async () => lease()?.renewedAt !== opened, { what: 'the first heartbeat' })
  // From now on the next one is a third of the lease away.
  latch.open()
  await recorded.seen('finished')
  await database.pool.query(`drop table tasks.dropped cascade; select pg_notify('pg_tasks', '')`)
  await recorded.seen('error')
  await waitFor(async () => recorded.worker.health().types[0]?.registered === false, { what: 'the type to be unknown' })
  expect(lease()?.state).toBe('held')
  await createTaskType(database.pool, 'dropped')
  await insertTasks(database.pool, 'dropped')
  await recorded.seen('finished', { count: 2, timeoutMs: 20_000 })
})
