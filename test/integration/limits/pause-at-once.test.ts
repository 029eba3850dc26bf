import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { waitUntilBlocked } from '../sql/wait-until-blocked.js'

const database = await createDatabase()
const client = await database.client()
const other = await database.client()

beforeAll(() => createTaskType(client, 'mail'))

it('a transaction that has acquired may pause its type while somebody waits to change a limit', async () => {
  await client.query("select tasks.limit_concurrency('tasks', 'mail', 5)")
  await client.query('insert into tasks.mail default values')
  await client.query('begin')
  expect(await rowsOf(client, 'select id from tasks.acquire_tasks_mail(1)')).toHaveLength(1)
  const changing = other.query("select tasks.limit_concurrency('tasks', 'mail', 7)")
  await waitUntilBlocked(database.pool, other)
  await client.query("select tasks.pause('tasks', 'mail', 'the bank is down')")
  await client.query("select tasks.resume('tasks', 'mail')")
  await client.query("select tasks.pause('tasks', 'mail', 'the bank is down')")
  await client.query('commit')
  await changing
  expect(await rowsOf(client, 'select concurrency, paused_reason from tasks.types')).toEqual([
    { concurrency: 7, paused_reason: 'the bank is down' },
  ])
})

it('a type is paused at once while another one is being registered', async () => {
  await client.query("select tasks.resume('tasks', 'mail')")
  await other.query('begin')
  await createTaskType(other, 'slow')
  await client.query("set lock_timeout = '5s'")
  await client.query("select tasks.pause('tasks', 'mail')")
  expect(await scalarOf(client, 'select paused_at is not null from tasks.types')).toBe(true)
  await other.query('rollback')
})
