import { migrate } from '@pg-tasks/sql'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { quoteIdentifier } from '../../support/names.js'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

// An owner who is no superuser: may create schemas in the database, and owns what is made.
const database = await createDatabase({ migrations: false })
const role = await database.createRole('plain_owner')
const owner = new Client({ connectionString: role.url, application_name: 'test client' })

beforeAll(async () => {
  await database.pool.query(
    `grant create on database ${quoteIdentifier(database.name)} to ${quoteIdentifier(role.name)}`,
  )
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await database.pool.query(`drop owned by ${quoteIdentifier(role.name)} cascade`)
})

it('migrates, registers, runs, grants, renames and unregisters', async () => {
  await migrate(owner)
  await createTaskType(owner, 'mail', { settings: "timeout => '10 s'" })
  await owner.query("insert into tasks.mail (payload) values ('a'), ('b')")
  const worker = await database.createRole('plain_worker')
  await owner.query("select tasks.grant_to($1, 'worker', 'tasks', 'mail')", [worker.name])
  const client = new Client({ connectionString: worker.url, application_name: 'test client' })
  await client.connect()
  expect(await rowsOf(client, 'select payload from tasks.acquire_tasks_mail(1, gen_random_uuid())')).toEqual([
    { payload: 'a' },
  ])
  await owner.query('alter table tasks.mail rename to letter')
  expect(await scalarOf(client, "select tasks.refresh('tasks.letter'::regclass)")).toBe(true)
  expect(await rowsOf(client, 'select payload from tasks.acquire_tasks_mail(1)')).toEqual([{ payload: 'b' }])
  await client.query('select * from tasks.maintain()')
  await client.end()
  await owner.query(
    "select tasks.register('tasks', 'letter'); select tasks.configure('tasks', 'letter', 'notify', 'off')",
  )
  await owner.query("select tasks.unregister('tasks', 'letter')")
  expect(await rowsOf(owner, 'select from tasks.types')).toEqual([])
})

it('cannot register the table of somebody else, and is told so', async () => {
  await database.pool.query(
    'create table public.foreign_mail (like tasks.template including defaults including identity including indexes)',
  )
  const error = await refusalOf(owner.query("select tasks.register('public', 'foreign_mail')"))
  expect(error.code).toBe('42501')
  expect(error.message).toMatch(/foreign_mail/)
  expect(await rowsOf(owner, 'select from tasks.types')).toEqual([])
})
