import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()

async function createKeyed(table: string, column: string, value?: string): Promise<void> {
  await createTaskType(session, table, { columns: column })
  const key = column.split(' ')[0]
  await session.query(`select tasks.limit_keys('tasks', $1, $2)`, [table, [key]])
  if (value !== undefined) {
    await session.query(
      `insert into tasks.${table} (${key}) select $1::text::${column.split(' ')[1]} from generate_series(1, 3)`,
      [value],
    )
  }
}

const acquired = async (table: string) =>
  (await rowsOf(session, `select id::int from tasks.acquire_tasks_${table}(10)`)).map(({ id }) => id)

const keyIndexes = async (table: string) =>
  (
    await rowsOf<{ name: string }>(
      session,
      `select substring(indexrelid::regclass::text from 'pg_tasks_(key|taken)_') as name from pg_index
       where indrelid = $1::text::regclass and indexrelid::regclass::text ~ 'pg_tasks_(key|taken)_' order by 1`,
      [table],
    )
  ).map(({ name }) => name)

describe('a key column', () => {
  it('may be renamed while a task runs and others wait', async () => {
    await createKeyed('renamed', 'shop integer', '1')
    expect(await acquired('renamed')).toEqual([1])
    await session.query('alter table tasks.renamed rename shop to store')
    expect(await acquired('renamed')).toEqual([])
    await session.query('select tasks.finish_tasks_renamed(1)')
    expect(await acquired('renamed')).toEqual([2])
    // A held one that gets another key has its own place.
    await session.query('update tasks.renamed set store = 2 where id = 3')
    expect(await acquired('renamed')).toEqual([3])
    await session.query("select tasks.maintain(), tasks.limit_keys('tasks', 'renamed', '{store}')")
    expect(await keyIndexes('tasks.renamed')).toEqual(['key', 'taken'])
  })

  it('that was dropped stops acquire with a word, and no end', async () => {
    await createKeyed('dropped', 'shop integer', '1')
    await acquired('dropped')
    await session.query('alter table tasks.dropped drop shop')
    await session.query('select tasks.finish_tasks_dropped(1)')
    const refusal = await refusalOf(acquired('dropped'))
    expect(refusal).toMatchObject({ code: 'TQ005', hint: expect.stringContaining('tasks.limit_keys') })
    await session.query("select tasks.limit_keys('tasks', 'dropped', null)")
    expect(await acquired('dropped')).toEqual([2, 3])
  })

  it('whose index was dropped has it again by the same call', async () => {
    await createKeyed('indexed', 'shop integer', '1')
    await acquired('indexed')
    await session.query(`do $$ declare v_name text; begin
      for v_name in select indexrelid::regclass from pg_index where indrelid = 'tasks.indexed'::regclass and indexrelid::regclass::text ~ 'pg_tasks_key_'
      loop execute 'drop index ' || v_name; end loop; end $$`)
    await session.query('select tasks.finish_tasks_indexed(1)')
    await session.query("select tasks.limit_keys('tasks', 'indexed', '{shop}')")
    expect(await acquired('indexed')).toEqual([2])
  })
})

it('the indexes go with the keys, also after a rename of the table', async () => {
  await createKeyed('moved', 'shop integer')
  await session.query('alter table tasks.moved rename to moved_2')
  await session.query("select tasks.register('tasks', 'moved_2')")
  const before = await rowsOf(
    session,
    "select indexrelid from pg_index where indrelid = 'tasks.moved_2'::regclass order by 1",
  )
  await session.query("select tasks.limit_keys('tasks', 'moved_2', '{shop}', 2)")
  expect(
    await rowsOf(session, "select indexrelid from pg_index where indrelid = 'tasks.moved_2'::regclass order by 1"),
  ).toEqual(before)
  await session.query("select tasks.limit_keys('tasks', 'moved_2', null)")
  expect(await keyIndexes('tasks.moved_2')).toEqual([])
})

it('fewer columns of the same key get indexes of their own', async () => {
  await createKeyed('fewer', 'shop integer, lang text')
  await session.query("select tasks.limit_keys('tasks', 'fewer', '{shop,lang}')")
  await session.query("select tasks.limit_keys('tasks', 'fewer', '{shop}')")
  await session.query("insert into tasks.fewer (shop, lang) values (1, 'de'), (1, 'en')")
  expect(await acquired('fewer')).toEqual([1])
  expect(await keyIndexes('tasks.fewer')).toEqual(['key', 'taken'])
})

describe('the next of a key runs', () => {
  beforeAll(async () => {
    await session.query(`create schema ext; create extension citext schema ext;
      create domain counted as integer not null`)
  })

  // Whoever ends a task may have other settings than whoever acquires the next.
  it.each([
    ['daterange', '[2024-02-01,2024-03-04)'],
    ['tstzrange', '[2024-02-01 00:00+00,2024-03-04 00:00+00)'],
    ['datemultirange', '{[2024-02-01,2024-03-04)}'],
    ['float8', '0.30000000000000004'],
    ['interval', '-1 day +02:03:04'],
    ['bytea', '\\x00ff'],
    ['timestamptz', '2024-02-01 01:02:03.123456+03'],
  ])('after an end in a session with settings of its own (%s)', async (type, value) => {
    const table = `of_${type}`
    await createKeyed(table, `k ${type}`, value)
    expect(await acquired(table)).toEqual([1])
    const other = await database.client()
    await other.query(`set datestyle = 'SQL, DMY'; set intervalstyle = sql_standard; set extra_float_digits = 0;
      set bytea_output = escape; set timezone = 'Asia/Kolkata'`)
    await other.query(`select tasks.finish_tasks_${table}(1)`)
    await other.end()
    expect(await acquired(table)).toEqual([2])
  })

  it('where another column is of a domain that refuses NULL', async () => {
    await createKeyed('of_domain', 'k integer, n counted default 7', undefined)
    await session.query('insert into tasks.of_domain (k) values (1), (1)')
    expect(await acquired('of_domain')).toEqual([1])
    await session.query('select tasks.finish_tasks_of_domain(1)')
    expect(await acquired('of_domain')).toEqual([2])
  })

  it('and no other meanwhile, where the type of the key is not in the search path', async () => {
    await createTaskType(session, 'cased', { columns: 'email ext.citext' })
    await session.query("select tasks.limit_keys('tasks', 'cased', '{email}')")
    await session.query("insert into tasks.cased (email) values ('a@x')")
    expect(await acquired('cased')).toEqual([1])
    await session.query("insert into tasks.cased (email) values ('A@X')")
    expect(await acquired('cased')).toEqual([])
    await session.query('select tasks.finish_tasks_cased(1)')
    expect(await acquired('cased')).toEqual([2])
  })
})
