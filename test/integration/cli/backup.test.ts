import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dumpPlan, inOneSnapshot, OWN_TABLES } from '@pg-tasks/sql'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { runCli } from './run-cli.js'

const SHOP = `
  create schema shop;
  create type shop.mood as enum ('good', 'it''s bad');
  create sequence shop.numbers start 100;
  create table shop.orders (
    id bigint generated always as identity primary key,
    number integer not null default nextval('shop.numbers') unique,
    "Mixed Case" text collate "C",
    mood shop.mood not null default 'good',
    total numeric(10, 2) check (total >= 0),
    doubled numeric generated always as (total * 2) stored
  );
  create table shop.legacy (id serial primary key, tags text[]);
  create function shop.total_of(p_id bigint) returns numeric language sql stable as 'select o.total from shop.orders o where o.id = p_id';
  create view shop.dear as select o.id from shop.orders o where o.total > 10;
  create function shop.touch() returns trigger language plpgsql as $$ begin new.tags := array_append(new.tags, 'touched'); return new; end $$;
  create trigger touch before insert on shop.legacy for each row execute function shop.touch();
  create index on shop.orders (mood) where total is not null;
  insert into shop.orders ("Mixed Case", total) values (E'tab\\t"quote" \\\\ line\\n', 5), (null, 20);
  insert into shop.legacy (tags) values ('{a}');
  create table tasks.send_invoice (like tasks.template including defaults including identity including indexes,
    order_id bigint not null references shop.orders);
  select tasks.register('tasks', 'send_invoice', max_retries => 3);
  select tasks.unique_while('tasks', 'send_invoice', '{order_id}');
  select tasks.keep_history('tasks', 'send_invoice', '1 day');
  select tasks.schedule('nightly', 'tasks', 'send_invoice', every => '1 day', columns => '{"order_id": 1}');
  insert into tasks.send_invoice (order_id) values (1), (2);
  select tasks.acquire_tasks_send_invoice(1);
`

function cli(args: readonly string[], database: TestDatabase) {
  return runCli(args, { env: { DATABASE_URL: database.url } })
}

it('a backup is restored whole: tables, rows, numbers, types and what hangs on them', async () => {
  const source = await createDatabase()
  await source.pool.query(SHOP)
  const folder = join(temporaryFolder(), 'backup')
  const made = await cli(['dev', 'backup', folder, '--json', '--partial'], source)
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  expect(made.json).toMatchObject({ folder, rows: expect.any(Number) })

  const target = await createDatabase({ migrations: false })
  const restored = await cli(['dev', 'restore', folder, '--json'], target)
  expect({ code: restored.code, stderr: restored.stderr }).toEqual({ code: 0, stderr: '' })

  const planOf = async (database: TestDatabase) => {
    const client = await database.client()
    const { before, after, tables } = await inOneSnapshot(client, () => dumpPlan(client))
    return {
      before: before.toSorted(),
      after: after.toSorted(),
      tables: tables.map(({ name, columns }) => [name, columns]).toSorted(),
    }
  }
  expect(await planOf(target)).toEqual(await planOf(source))
  for (const table of [
    'shop.orders',
    'shop.legacy',
    'tasks.send_invoice',
    'tasks.types',
    'tasks.schedules',
    'tasks.unique_rules',
  ]) {
    const text = `select t::text as row from ${table} t order by 1`
    const [before, after] = [await rowsOf(source.pool, text), await rowsOf(target.pool, text)]
    // The identity of a table is its name in text.
    expect(after).toEqual(before)
  }
  // Numbers go on, verbs work, what is unique stays so.
  expect(await scalarOf(target.pool, 'insert into shop.orders (total) values (1) returning number')).toBe(102)
  expect(await scalarOf(target.pool, 'insert into shop.legacy default values returning id')).toBe(2)
  const [acquired] = await rowsOf(target.pool, 'select id, order_id from tasks.acquire_tasks_send_invoice(1)')
  expect(acquired).toEqual({ id: '2', order_id: '2' })
  await expect(target.pool.query('insert into tasks.send_invoice (order_id) values (3), (3)')).rejects.toThrow(/unique/)
  const doctor = await cli(['doctor', '--json'], target)
  expect(doctor.json.checks.filter(({ severity }: { severity: string }) => severity !== 'ok')).toEqual([])
})

it('restores nothing where something is in the way', async () => {
  const source = await createDatabase()
  await source.pool.query('create schema shop; create table shop.one (a integer); create table shop.two (a integer)')
  const folder = join(temporaryFolder(), 'backup')
  expect((await cli(['dev', 'backup', folder, '--partial'], source)).code).toBe(0)
  expect((await cli(['dev', 'backup', folder], source)).stderr).toContain('not empty')
  const target = await createDatabase({ migrations: false })
  await target.pool.query('create schema shop; create table shop.two (a integer)')
  const { code, stderr } = await cli(['dev', 'restore', folder], target)
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('relation "two" already exists') })
  expect(await scalarOf(target.pool, `select to_regclass('shop.one')`)).toBeNull()
})

it('refuses to leave anything out unless it is told to, and then says what', async () => {
  const source = await createDatabase({ migrations: false })
  await source.pool.query('create domain positive as integer check (value > 0)')
  const folder = join(temporaryFolder(), 'backup')
  const refused = await cli(['dev', 'backup', folder], source)
  expect({ code: refused.code, stderr: refused.stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/leave out:\n(.*\n)* {2}domain public\.positive\n(.*\n)*--partial/),
  })
  const made = await cli(['dev', 'backup', folder, '--partial', '--json'], source)
  expect(made.json.omitted).toContain('domain public.positive')
  expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({ format: 1 })
})

it('knows all tables that the migrations make', async () => {
  const { pool } = await createDatabase()
  const rows = await rowsOf<{ name: string }>(
    pool,
    `select c.relname::text as name from pg_class c where c.relnamespace = 'tasks'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...OWN_TABLES].toSorted())
})
