import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Latch, startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

let database: TestDatabase
let pool: Pool

beforeAll(async () => {
  database = await createDatabase()
  pool = new Pool({ connectionString: database.url, max: 4 })
})

afterAll(() => pool.end())

// A run that has retried itself may go on, and meanwhile the same process has the task again. Both ask what has become of it,
// and the answer to one is not the answer to the other.
it('tells two runs of one task apart that end at the same moment', async () => {
  await createTaskType(database.pool, 'twice')
  const [id = ''] = await insertTasks(database.pool, 'twice')
  const second = new Latch()
  const task = taskOf('twice', async (claimed, { attempt }, self) => {
    if (attempt === 1) {
      await self.retry(pool, claimed, { delayMs: 0 })
      await second.opened
    } else if (attempt === 2) {
      const client = await pool.connect()
      await client.query('begin')
      await self.finish(client, claimed)
      await client.query('rollback')
      client.release()
      // Both in the same turn, so that they share a question.
      second.open()
    }
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 2])

  await recorded.seen('finished')
  expect(recorded.of('finished')).toMatchObject([{ id, attempt: 3 }])
  expect(
    recorded
      .of('retried')
      .map(({ attempt }) => attempt)
      .toSorted(),
  ).toEqual([1, 2])
  expect(recorded.of('lost')).toEqual([])
  expect(await readTask(database.pool, 'twice', id)).toMatchObject({ state: 'finished', execution_count: 3 })
})
