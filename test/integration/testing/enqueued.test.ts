import { assertEnqueued, assertNotEnqueued, enqueuedTasks } from '@pg-tasks/client/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { taskOf } from '../worker/start-worker.js'

interface Own {
  email: string
  data?: unknown
}

let database: TestDatabase
const task = taskOf<Own>('mail')

beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'mail', { columns: 'email text not null, data jsonb' })
  await task.enqueue(database.pool, { email: 'gone@example.com' })
  const [claimed] = await task.acquire(database.pool)
  if (claimed !== undefined) await task.finish(database.pool, claimed)
  await task.enqueue(database.pool, { email: 'a@example.com', data: { tags: ['x'] } })
  await task.enqueue(database.pool, { email: 'b@example.com', priority: 0 }, { delayMs: 3_600_000 })
})

describe('assertEnqueued', () => {
  it('passes for what waits, by value and by function, and gives the row', async () => {
    expect(await assertEnqueued(database.pool, task, { email: 'a@example.com' })).toMatchObject({ id: '2' })
    await assertEnqueued(database.pool, task, { data: { tags: ['x'] } }, { count: 1 })
    await assertEnqueued(database.pool, task, { priority: 0, planned_to: (at) => at.getTime() > Date.now() })
    await assertEnqueued(database.pool, task, {}, { count: 2 })
    expect((await enqueuedTasks(database.pool, task)).map(({ email }) => email)).toEqual([
      'a@example.com',
      'b@example.com',
    ])
  })

  it('fails with what waits instead', async () => {
    const failing = assertEnqueued(database.pool, task, { email: 'c@example.com' })
    await expect(failing).rejects.toMatchObject({ name: 'AssertionError' })
    await expect(failing).rejects.toThrow(
      /tasks\.mail: Expected a task with \{ email: 'c@example.com' \}, found 0\. There wait:.*a@example\.com/s,
    )
    await expect(assertEnqueued(database.pool, task, {}, { count: 1 })).rejects.toThrow(
      /Expected 1 tasks with \{\}, found 2/,
    )
    await expect(assertEnqueued(database.pool, task, { email: 'gone@example.com' })).rejects.toThrow(/found 0/)
  })
})

describe('assertNotEnqueued', () => {
  it('does not pass because it is asked for a column that the table does not have', async () => {
    const misspelled = { emial: 'a@example.com' } as never
    const refused = {
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/"emial", which the table does not have/),
    }
    await expect(assertNotEnqueued(database.pool, task, misspelled)).rejects.toMatchObject(refused)
    await expect(assertEnqueued(database.pool, task, misspelled)).rejects.toMatchObject(refused)
  })

  it('passes for what does not wait, and fails for what does', async () => {
    await assertNotEnqueued(database.pool, task, { email: 'gone@example.com' })
    await expect(assertNotEnqueued(database.pool, task, { email: 'a@example.com' })).rejects.toThrow(
      /Expected no task with \{ email: 'a@example.com' \}, found 1\. There wait:.*tags/s,
    )
  })
})
