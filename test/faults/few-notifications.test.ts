import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

const BACKLOG = 3_000
const ENQUEUERS = 16
const EACH = 25

let database: TestDatabase
const enqueuers: Client[] = []

beforeAll(async () => {
  database = await createDatabase()
  for (let n = 0; n < ENQUEUERS; n++) enqueuers.push(await database.client())
})

afterAll(() => Promise.all(enqueuers.map((client) => client.end())))

// B-13. The poll stands at 60 s: tasks that nobody announced are found because their worker is awake, or they are not run.
it('commits beside a busy worker notify a few times, not once each, and every task is run', async () => {
  await createTaskType(database.pool, 'busy')
  await insertTasks(database.pool, 'busy', BACKLOG)
  const task = taskOf('busy', () => delay(2))
  const recorded = await startWorker({ connectionString: database.url }, [task, 4])
  await recorded.seen('finished', { count: 200 })

  const heard: string[] = []
  const listener = await database.client()
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await listener.query('listen pg_tasks')
  await Promise.all(
    enqueuers.map(async (client) => {
      for (let n = 0; n < EACH; n++) await client.query('insert into tasks.busy default values')
    }),
  )
  await recorded.seen('finished', { count: BACKLOG + ENQUEUERS * EACH })
  await listener.query('select')
  console.log(`${ENQUEUERS * EACH} commits led to ${heard.length} notifications`)
  expect(heard.length).toBeLessThan((ENQUEUERS * EACH) / 4)
})
