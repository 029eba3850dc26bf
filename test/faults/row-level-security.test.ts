import { beforeAll, expect, it } from 'vitest'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase, type TestRole } from '../support/test-database.js'

let database: TestDatabase
let role: TestRole

beforeAll(async () => {
  database = await createDatabase()
  role = await database.createRole('worker')
  for (const table of ['hidden', 'shown']) {
    await createTaskType(database.pool, table)
    await database.pool.query("select tasks.grant_to($1, 'worker', 'tasks', $2)", [role.name, table])
  }
  await database.pool.query('alter table tasks.hidden enable row level security')
})

// B-34
it('a worker says at its start that row level security may hide tasks from it, and of which type', async () => {
  await insertTasks(database.pool, 'hidden')
  await insertTasks(database.pool, 'shown')
  const recorded = await startWorker({ connectionString: role.url }, [taskOf('hidden'), 1], [taskOf('shown'), 1])
  expect(recorded.lines.filter((line) => line.level === 'warn')).toMatchObject([
    { fields: { schema: 'tasks', table: 'hidden' }, message: expect.stringContaining('Row level security is active') },
  ])
  await recorded.seen('finished')
  expect(recorded.of('finished')).toMatchObject([{ table: 'shown' }])

  await database.pool.query(`create policy all_rows on tasks.hidden to ${role.name} using (true)`)
  const [id] = await insertTasks(database.pool, 'hidden')
  await recorded.seen('finished', { count: 3 })
  expect(recorded.of('finished')).toContainEqual(expect.objectContaining({ table: 'hidden', id }))
})

it('a worker whose role row level security does not concern says nothing', async () => {
  const recorded = await startWorker({ connectionString: database.url }, [taskOf('hidden'), 1])
  expect(recorded.lines.filter((line) => line.level === 'warn')).toEqual([])
})
