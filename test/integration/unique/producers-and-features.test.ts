import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createDatabase, type TestRole } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

// Replace, postpone and advance are updates, so whatever hangs on updates of a task table runs with the producer's rights.
const database = await createDatabase()
const owner = await database.client()
let role: TestRole
let producer: Client

beforeAll(async () => {
  await createTaskType(owner, 'mail', { columns: 'customer integer, amount integer' })
  await owner.query("select tasks.unique_while('tasks', 'mail', '{customer}')")
  await owner.query('revoke execute on all functions in schema tasks from public')
  role = await database.createRole('producer')
  await owner.query("select tasks.grant_to($1, 'producer', 'tasks', 'mail')", [role.name])
  producer = new Client({ connectionString: role.url, application_name: 'test client' })
  await producer.connect()
})

afterAll(async () => {
  await producer.end()
  await owner.query(`drop owned by "${role.name}"`)
})

beforeEach(async () => {
  await owner.query('truncate tasks.mail')
  await owner.query(`select tasks.limit_concurrency('tasks', 'mail', null), tasks.limit_keys('tasks', 'mail', null),
    tasks.keep_history('tasks', 'mail', null)`)
})

it.each([
  ['limit_concurrency', "select tasks.limit_concurrency('tasks', 'mail', 1)"],
  ['limit_keys', "select tasks.limit_keys('tasks', 'mail', '{amount}')"],
  ['keep_history', "select tasks.keep_history('tasks', 'mail')"],
  ['use_groups', "select tasks.use_groups('tasks', 'mail')"],
])('a producer changes waiting unique tasks of a type with %s', async (_, feature) => {
  await owner.query(feature)
  await owner.query("insert into tasks.mail (customer, amount, planned_to) values (0, 1, '2020-01-01')")
  const outcomes: string[] = []
  for (const rule of ['ignore', 'replace', 'postpone', 'advance']) {
    const rows = '[{"customer": 1, "amount": 1}]'
    for (const delay of ['0', '1 s'])
      outcomes.push(
        await scalarOf(producer, 'select outcome from tasks.enqueue($1, $2, $3, $4)', [
          'tasks.mail',
          rows,
          rule,
          delay,
        ]),
      )
  }
  expect(outcomes).toEqual([
    'enqueued',
    'ignored',
    'replaced',
    'replaced',
    'postponed',
    'postponed',
    'advanced',
    'advanced',
  ])
})

it('a producer changes a task that its key holds back', async () => {
  await owner.query("select tasks.limit_keys('tasks', 'mail', '{amount}')")
  await owner.query('insert into tasks.mail (customer, amount) values (1, 7), (2, 7)')
  expect(await rowsOf(owner, 'select customer from tasks.acquire_tasks_mail(10)')).toEqual([{ customer: 1 }])
  expect(await scalarOf(owner, 'select customer from tasks.mail where held')).toBe(2)
  await producer.query('select tasks.enqueue($1, $2, $3)', ['tasks.mail', '[{"customer": 2, "amount": 8}]', 'replace'])
  expect(await rowsOf(owner, 'select customer, amount from tasks.acquire_tasks_mail(10)')).toEqual([
    { customer: 2, amount: 8 },
  ])
})

it('a producer changes what waits in a group, which counts nothing for that', async () => {
  await owner.query("select tasks.use_groups('tasks', 'mail')")
  await owner.query("begin; select tasks.create_group('one', 'tasks', 'mail')")
  await owner.query("insert into tasks.mail (customer, group_key) values (1, 'one'); commit")
  await producer.query('select tasks.enqueue($1, $2, $3)', ['tasks.mail', '[{"customer": 1, "amount": 9}]', 'replace'])
  expect(await rowsOf(owner, 'select customer, amount, group_key from tasks.mail')).toEqual([
    { customer: 1, amount: 9, group_key: 'one' },
  ])
  expect(await rowsOf(owner, 'select finished, failed, canceled, ended_at from tasks.groups')).toEqual([
    { finished: '0', failed: '0', canceled: '0', ended_at: null },
  ])
})
