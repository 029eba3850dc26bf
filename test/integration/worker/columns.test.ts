import { TableShapeError, Worker } from '@pg-tasks/client'
import { expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { startWorker, taskOf } from './start-worker.js'

const database = await createDatabase()
await createTaskType(database.pool, 'lettered', { columns: 'a text, b text' })

it('refuses to start on a table that lacks a column the code expects, and says which', async () => {
  const worker = new Worker({ connectionString: database.url, handleSignals: false })
  worker.add(taskOf('lettered', () => {}, { columns: ['a', 'c', 'd'] }))
  const refused = await worker.run().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(TableShapeError)
  expect(refused).toMatchObject({
    code: 'TABLE_SHAPE',
    schema: 'tasks',
    table: 'lettered',
    message: expect.stringContaining('lacks c, d'),
  })
  expect(worker.health().state).toBe('stopped')
})

it('starts where all are there, those of the template too', async () => {
  const recorded = await startWorker({ connectionString: database.url }, [
    taskOf('lettered', () => {}, { columns: ['a', 'b', 'planned_to'] }),
    1,
  ])
  await database.pool.query('insert into tasks.lettered default values')
  await recorded.seen('finished')
})

it('keeps a copy of the list, and refuses what is none', () => {
  const columns = ['a']
  const task = taskOf('lettered', () => {}, { columns })
  columns.push('c')
  expect(task.options.columns).toEqual(['a'])
  expect(() => taskOf('lettered', () => {}, { columns: 'a' as never })).toThrow(/"columns".*array/)
  expect(() => taskOf('lettered', () => {}, { columns: [''] })).toThrow(/"columns"/)
})
