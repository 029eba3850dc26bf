import { beforeAll, expect, it } from 'vitest'
import { startWorker, taskOf, workersAsleep } from '../integration/worker/start-worker.js'
import { createTaskType } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

// B-01. The poll stands at 60 s, and the rows fire no trigger: whatever starts is started by a notification from outside.
it('anybody may notify: the name of a type or nothing wakes, and no other payload harms', async () => {
  await createTaskType(database.pool, 'noisy')
  const recorded = await startWorker({ connectionString: database.url }, [taskOf('noisy'), 1])
  const client = await database.client()
  let tasks = 0
  for (const wake of [`notify pg_tasks, 'tasks.noisy'`, 'notify pg_tasks']) {
    // With its lease goes the last reason to look by itself.
    await waitFor(async () => (await database.pool.query('select from tasks.leases')).rowCount === 0)
    await workersAsleep(database.pool, 'noisy')
    await waitFor(() => recorded.worker.health().types[0]?.asleep)
    await client.query('set session_replication_role = replica')
    await client.query('insert into tasks.noisy default values')
    for (const payload of ['{"x":1}', '{"x":', '123', '"tasks.noisy', 'not a.real.name', 'tasks.', '.', '\u{1F600}']) {
      await client.query('select pg_notify($1, $2)', ['pg_tasks', payload])
      await client.query('select pg_notify($1, $2)', ['pg_tasks_control', payload])
    }
    await client.query(wake)
    tasks += 1
    await recorded.seen('finished', { count: tasks })
  }
  expect(recorded.of('error')).toEqual([])
  expect(recorded.of('not_listening')).toEqual([])
  expect(recorded.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
})
