import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { rowsOf, scalarOf } from './rows-of.js'

const database = await createDatabase()
const client = await database.client()

beforeAll(async () => {
  await createTaskType(client, 'other')
  await client.query(
    'create table tasks.bill (like tasks.template including defaults including identity including indexes, customer integer, number text)',
  )
})

const objects = () =>
  rowsOf(
    client,
    `select i.indexrelid::regclass::text as name from pg_index i where i.indrelid = 'tasks.bill'::regclass
     union all select tgname from pg_trigger where tgrelid = 'tasks.bill'::regclass order by 1`,
  )

it('unregister takes away every index and trigger that a feature brought, and another name brings each once', async () => {
  const before = await objects()
  for (const name of ['first', 'second']) {
    await client.query("select tasks.register('tasks', 'bill', function_name => $1)", [name])
    await client.query(`select tasks.limit_concurrency('tasks', 'bill', 1), tasks.limit_keys('tasks', 'bill', '{customer}'),
      tasks.unique_while('tasks', 'bill', '{number}'), tasks.use_groups('tasks', 'bill'),
      tasks.keep_history('tasks', 'bill'), tasks.set_on_failure('tasks', 'bill', 'tasks.other')`)
    await client.query("insert into tasks.bill (customer, number) values (1, 'a'), (1, 'b')")
    await client.query(`select tasks.acquire_${name}(10)`)
    await client.query("select tasks.unregister('tasks', 'bill')")
    expect(await objects()).toEqual(before)
    expect(await scalarOf(client, 'select count(*) from tasks.bill where held')).toBe('0')
    await client.query('truncate tasks.bill')
  }
})
