import { enqueueUnique } from '@pg-tasks/sql'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf } from '../sql/rows-of.js'

const database = await createDatabase()

beforeAll(async () => {
  await database.pool.query(`
    create function lower_name() returns trigger language plpgsql as 'begin new.name := lower(new.name); return new; end';
    create function swallow() returns trigger language plpgsql as 'begin return null; end'`)
})

/** What the database stores isn't what the caller gave: the row that it met can't be found by the given values. */
const types = {
  changed: 'name text',
  computed: 'given text, name text generated always as (lower(given)) stored',
  by_default: "name text default 'daily', given text",
  swallowed: 'name text',
}

beforeAll(async () => {
  for (const [table, columns] of Object.entries(types)) {
    await createTaskType(database.pool, table, { columns })
    await database.pool.query("select tasks.unique_while('tasks', $1, '{name}')", [table])
  }
  await database.pool.query(`
    create trigger lower_name before insert on tasks.changed for each row execute function lower_name();
    create trigger swallow before insert on tasks.swallowed for each row execute function swallow()`)
})

const enqueue = async (table: string, row: object, mode: string | null) =>
  (
    await rowsOf(database.pool, 'select id::int, outcome from tasks.enqueue($1::text::regclass, $2, $3)', [
      `tasks.${table}`,
      JSON.stringify([row]),
      mode,
    ])
  )[0]

describe('a new task that is ignored ends the call', () => {
  it.each([
    ['changed by a trigger', 'changed', { name: 'A' }],
    ['computed', 'computed', { given: 'A' }],
    ['left to its default', 'by_default', { given: 'A' }],
  ])('where its column is %s', async (_, table, row) => {
    expect(await enqueue(table, row, 'ignore')).toEqual({ id: 1, outcome: 'enqueued' })
    expect(await enqueue(table, row, 'ignore')).toEqual({ id: null, outcome: 'ignored' })
    expect(await enqueue(table, row, 'postpone')).toEqual({ id: 1, outcome: 'postponed' })
  })

  it('where row security hides the one that it meets', async () => {
    await createTaskType(database.pool, 'hidden', { columns: 'name text' })
    await database.pool.query("select tasks.unique_while('tasks', 'hidden', '{name}')")
    const producer = await database.createRole('producer')
    await database.pool.query(`
      select tasks.grant_to('${producer.name}', 'producer', 'tasks', 'hidden');
      alter table tasks.hidden enable row level security;
      create policy adds on tasks.hidden for insert with check (true);
      create policy sees_few on tasks.hidden for select using (planned_to < now() + interval '1 hour');
      insert into tasks.hidden (name, planned_to) values ('A', now() + interval '2 hours')`)
    const client = await database.client()
    await client.query(`set role ${producer.name}`)
    const { rows } = await client.query(
      `select id, outcome from tasks.enqueue('tasks.hidden', '[{"name": "A"}]', 'ignore')`,
    )
    expect(rows).toEqual([{ id: null, outcome: 'ignored' }])
  })
})

describe('a new task that a trigger swallows', () => {
  it.each([
    [null, 'not_taken'],
    ['ignore', 'ignored'],
    ['replace', 'not_taken'],
    ['postpone', 'not_taken'],
    ['advance', 'not_taken'],
  ])('is not said to be there (%s)', async (mode, outcome) => {
    expect(await enqueue('swallowed', { name: 'A' }, mode)).toEqual({ id: null, outcome })
  })

  it('has no id in TypeScript either', async () => {
    const type = { schema: 'tasks', table: 'swallowed', functionName: 'tasks_swallowed' }
    expect(await enqueueUnique(database.pool, type, [{ name: 'A' }], { onConflict: 'replace' })).toEqual([
      { id: null, outcome: 'not_taken' },
    ])
  })
})

it('a row may leave out a column of a domain that refuses NULL', async () => {
  await database.pool.query('create domain counted as integer not null')
  await createTaskType(database.pool, 'counting', { columns: 'name text, reason text, n counted default 7' })
  await database.pool.query("select tasks.unique_while('tasks', 'counting', '{name}')")
  expect(await enqueue('counting', { name: 'A' }, null)).toEqual({ id: 1, outcome: 'enqueued' })
  expect(await enqueue('counting', { name: 'A', reason: 'more' }, 'replace')).toEqual({ id: 1, outcome: 'replaced' })
  expect(await enqueue('counting', { name: 'A' }, 'ignore')).toEqual({ id: 1, outcome: 'ignored' })
  expect(await rowsOf(database.pool, 'select reason, n from tasks.counting')).toEqual([{ reason: 'more', n: 7 }])
})

it('a column that is not there is named', async () => {
  const refusal = await refusalOf(enqueue('changed', { name: 'A', nmae: 'B' }, null))
  expect(refusal).toMatchObject({ code: '42703', message: 'enqueue: tasks.changed has no column nmae' })
})

it('values are alike as the index compares them, whatever the search path', async () => {
  await database.pool.query('create schema ext; create extension citext schema ext')
  await createTaskType(database.pool, 'cased', { columns: 'email ext.citext' })
  await database.pool.query("select tasks.unique_while('tasks', 'cased', '{email}')")
  expect(await enqueue('cased', { email: 'A@x' }, 'ignore')).toEqual({ id: 1, outcome: 'enqueued' })
  expect(await enqueue('cased', { email: 'a@X' }, 'ignore')).toEqual({ id: 1, outcome: 'ignored' })
  await database.pool.query('select tasks.acquire_tasks_cased(1)')
  expect(await enqueue('cased', { email: 'a@X' }, null)).toMatchObject({ outcome: 'enqueued' })
  await database.pool.query('select tasks.retry_tasks_cased(1)')
  expect(await rowsOf(database.pool, 'select canceled from tasks.cased order by id')).toEqual([
    { canceled: true },
    { canceled: false },
  ])
})
