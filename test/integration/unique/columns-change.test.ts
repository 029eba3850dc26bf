import { beforeEach, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()

beforeEach(async () => {
  await session.query('drop table if exists tasks.mail cascade')
  await createTaskType(session, 'mail', { columns: 'shop integer' })
  await session.query("select tasks.unique_while('tasks', 'mail', '{shop}')")
  await session.query('insert into tasks.mail (shop) values (1)')
})

const enqueue = (column: string) =>
  rowsOf(session, `select id::int, outcome from tasks.enqueue('tasks.mail', $1, 'ignore')`, [
    JSON.stringify([{ [column]: 1 }]),
  ])

it('a unique column may be renamed', async () => {
  await session.query('alter table tasks.mail rename shop to store')
  expect(await enqueue('store')).toEqual([{ id: 1, outcome: 'ignored' }])
  await session.query('select tasks.acquire_tasks_mail(1)')
  await session.query('insert into tasks.mail (store) values (1)')
  await session.query('select tasks.retry_tasks_mail(1)')
  expect(await scalarOf(session, 'select canceled from tasks.mail where id = 1')).toBe(true)

  await session.query(
    "select tasks.schedule('hourly', 'tasks', 'mail', every => '1 hour', columns => '{\"store\": 1}')",
  )
  expect(await scalarOf(session, "select tasks.trigger_schedule('hourly')")).toBeNull()
  const producer = await database.createRole('producer')
  await session.query(`select tasks.grant_to('${producer.name}', 'producer', 'tasks', 'mail')`)

  const before = await scalarOf(session, "select oid from pg_class where relname like 'pg_tasks_unique_%'")
  await session.query("select tasks.unique_while('tasks', 'mail', '{store}')")
  expect(await scalarOf(session, "select oid from pg_class where relname like 'pg_tasks_unique_%'")).toBe(before)
  expect(
    await scalarOf(session, "select columns from tasks.unique_rules where table_id = 'tasks.mail'::regclass"),
  ).toEqual(['store'])
})

it('where one is dropped, a task that comes back comes back, and enqueue says what to do', async () => {
  await session.query('select tasks.acquire_tasks_mail(1)')
  await session.query('alter table tasks.mail drop shop, add store integer')
  await session.query('select tasks.retry_tasks_mail(1)')
  const refusal = await refusalOf(enqueue('store'))
  expect(refusal).toMatchObject({ code: 'TQ003', hint: expect.stringContaining('tasks.unique_while') })
})

it('an index that somebody dropped is made anew by the same call', async () => {
  const name = await scalarOf<string>(
    session,
    "select index_name from tasks.unique_rules where table_id = 'tasks.mail'::regclass",
  )
  await session.query(`drop index tasks.${name}`)
  expect((await refusalOf(enqueue('shop'))).message).toContain('is gone')
  await session.query("select tasks.unique_while('tasks', 'mail', '{shop}')")
  expect(await enqueue('shop')).toEqual([{ id: 1, outcome: 'ignored' }])
})
