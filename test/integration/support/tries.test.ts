import { beforeAll, expect, it } from 'vitest'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'

let database: TestDatabase
let tries = 0

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query('create table effects (of text)')
})

it('gives a test that is tried again its tables anew', { retry: 1 }, async () => {
  tries += 1
  await createTaskType(database.pool, 'tried', { columns: 'note text' })
  await insertTasks(database.pool, 'tried')
  await database.pool.query(`insert into effects values ('tried'), ('another')`)
  const { rows } = await database.pool.query('select count(*)::int from tasks.tried')
  expect(rows).toEqual([{ count: 1 }])
  expect((await database.pool.query(`select from effects where of = 'tried'`)).rowCount).toBe(1)
  expect(tries).toBe(2)
})
