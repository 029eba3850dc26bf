import { Client } from 'pg'
import { afterAll, expect, it } from 'vitest'
import { createTaskType } from '../integration/sql/create-task-type.js'
import { rowsOf, scalarOf } from '../integration/sql/rows-of.js'
import { type Replica, startReplica } from '../support/replica.js'
import { createDatabase } from '../support/test-database.js'
import { startTestServer } from '../support/test-server.js'

// B-75, O-11
const server = await startTestServer()
const database = await createDatabase({ serverUrl: server.url })
let replica: Replica | undefined

afterAll(async () => {
  await database.drop()
  await replica?.remove()
  await server.remove()
})

it('statistics, types and tasks can be read on a standby, and an unlogged type is left out there', {
  timeout: 120_000,
}, async () => {
  const session = await database.client()
  await createTaskType(session, 'mail')
  await session.query('create unlogged table tasks.quick (like tasks.template including all)')
  await session.query("select tasks.register('tasks', 'quick')")
  await session.query('insert into tasks.mail default values; insert into tasks.quick default values')
  expect(await rowsOf(session, 'select table_name, total from tasks.stats order by 1')).toEqual([
    { table_name: 'mail', total: '1' },
    { table_name: 'quick', total: '1' },
  ])

  replica = await startReplica(server)
  await replica.catchUp()
  const standby = new URL(database.url)
  standby.port = String(replica.port)
  const reader = new Client({ connectionString: standby.href })
  await reader.connect()
  expect(await scalarOf(reader, 'select pg_is_in_recovery()')).toBe(true)
  expect(await rowsOf(reader, 'select table_name, total from tasks.stats')).toEqual([
    { table_name: 'mail', total: '1' },
  ])
  expect(await rowsOf(reader, 'select ready from tasks.stats_of_tasks_mail')).toEqual([{ ready: '1' }])
  await reader.query(
    "select * from tasks.describe('tasks', 'mail'); select * from tasks.types; select * from tasks.leases",
  )
  await reader.end()
  await session.end()
})

it('an unlogged type is empty after a crash of the server, and goes on', { timeout: 120_000 }, async () => {
  server.kill()
  await server.restart()
  const session = await database.client()
  expect(await rowsOf(session, 'select id from tasks.acquire_tasks_quick(1)')).toEqual([])
  await session.query('insert into tasks.quick default values')
  expect(await rowsOf(session, 'select id from tasks.acquire_tasks_quick(1)')).toHaveLength(1)
  expect(await rowsOf(session, 'select table_name, total from tasks.stats order by 1')).toEqual([
    { table_name: 'mail', total: '1' },
    { table_name: 'quick', total: '1' },
  ])
  await session.end()
})
