import type { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { rowsOf, scalarOf } from './rows-of.js'

// O-48: whatever stands in front of pg_catalog in a caller's search_path, the verbs call what they mean.
const database = await createDatabase()
const session = await database.client()

beforeAll(async () => {
  await createTaskType(session, 'mail', { settings: "timeout => '10 s'" })
  await createTaskType(session, 'fresh')
})

/** Every function of pg_catalog that a source mentions, made to raise when it is called without its schema. */
async function shadowFunctions(schema: string): Promise<number> {
  const functions = await rowsOf(
    session,
    `with words as (
       select distinct word[1] as word from pg_proc s, regexp_matches(s.prosrc, '([a-z_0-9]+)\\s*\\(', 'g') word
       where s.pronamespace = 'tasks'::regnamespace
     )
     select p.proname, pg_get_function_identity_arguments(p.oid) as arguments
     from pg_proc p join words w on w.word = p.proname
     where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and p.proargmodes is null
       and pg_get_function_identity_arguments(p.oid) !~ 'internal|any|VARIADIC|cstring|trigger'`,
  )
  for (const { proname, arguments: args } of functions) {
    await session.query(
      `create function ${schema}."${proname}"(${args}) returns integer language plpgsql as $$ begin raise 'shadowed ${proname}'; end $$`,
    )
  }
  for (const table of ['types', 'leases', 'mail', 'fresh', 'template', 'stats']) {
    await session.query(`create table ${schema}."${table}" (id pg_catalog.int4)`)
  }
  return functions.length
}

const SHADOWED_TYPES = [
  'text',
  'uuid',
  'timestamptz',
  'jsonb',
  'oid',
  'regclass',
  'record',
  'name',
  'int4',
  'int8',
  'bool',
  'float8',
]

/** Types that the bodies mention, made to fail when they are looked up by the path. */
async function shadowTypes(client: Client, schema: string): Promise<void> {
  for (const type of SHADOWED_TYPES) {
    await client.query(`create domain ${schema}."${type}" as pg_catalog.int4 check (value = 0)`)
  }
}

async function useEveryVerb(table: 'mail' | 'fresh', client: Client = session): Promise<void> {
  const call = (verb: string, args: string) => client.query(`select * from tasks.${verb}_tasks_${table}(${args})`)
  await moveClock(client, '0')
  await client.query(
    `insert into tasks.${table} (planned_to) select '2020-01-01' from pg_catalog.generate_series(1, 8)`,
  )
  const worker = await scalarOf<string>(client, 'select pg_catalog.gen_random_uuid()')
  const runs = (await call('acquire', `7, '${worker}'`)).rows as Array<{ id: string; run_token: string }>
  expect(runs).toHaveLength(7)
  const of = (index: number) => `'${runs[index]?.id}', run_token => '${runs[index]?.run_token}'`
  await call('heartbeat', `'${worker}', '{${runs[0]?.id}}', '{${runs[0]?.run_token}}', true`)
  await call('finish', of(0))
  await call('finish_many', `'{${runs[1]?.id},99999}', '{${runs[1]?.run_token},${runs[2]?.run_token}}'`)
  await call('retry', `${of(2)}, error => 'boom'`)
  await call('release', of(3))
  await call('cancel', of(4))
  await call('reset', `'${runs[5]?.id}'`)
  await call('next_due', `'${worker}'`)
  await moveClock(client, '1 hour')
  expect((await call('rescue', '')).rows).toEqual([{ [`rescue_tasks_${table}`]: '1' }])
  await call('acquire', '1')
  await expect(call('finish', "99999, comment => 'x'")).rejects.toMatchObject({ code: 'TQ002' })
  await call('clean', "'0'")
  await call('clean_before', "'infinity', '{canceled}'")
  await client.query(`select * from tasks.stats_of_tasks_${table}`)
  await client.query('select * from tasks.stats')
  await moveClock(client, '0')
}

async function useRegistry(): Promise<void> {
  await session.query(
    "create table tasks.more (like tasks.template including all); select tasks.register('tasks', 'more')",
  )
  await session.query(
    "select tasks.register('tasks', 'more'); select tasks.configure('tasks', 'more', 'timeout', '5 s')",
  )
  await session.query("select tasks.upgrade('tasks.more'); select tasks.refresh('tasks.more'::pg_catalog.regclass)")
  await session.query("select * from tasks.describe('tasks', 'more')")
  await session.query("select tasks.unregister('tasks', 'more'); drop table tasks.more")
}

describe.each([
  ['a schema in front of pg_catalog', 'mask', 'mask, pg_catalog'],
  ['pg_temp', 'pg_temp', 'pg_temp, pg_catalog'],
])('shadows in %s', (_, schema, path) => {
  beforeAll(async () => {
    if (schema !== 'pg_temp') await session.query(`create schema ${schema}`)
    expect(await shadowFunctions(schema)).toBeGreaterThan(20)
  })

  const withPath = async (use: () => Promise<void>) => {
    await session.query(`set search_path = ${path}`)
    await use()
    await session.query('reset search_path')
  }

  it.each(['mail', 'fresh'] as const)('are not called by the verbs of %s', (table) =>
    withPath(() => useEveryVerb(table)),
  )

  it('are not called by register and its kin', () => withPath(useRegistry))

  // In a session that hasn't compiled the verbs yet.
  it('are no types to the verbs', async () => {
    const client = await database.client()
    await shadowTypes(client, schema)
    await client.query(`set search_path = ${path}`)
    await useEveryVerb('mail', client)
    for (const type of SHADOWED_TYPES) await client.query(`drop domain ${schema}."${type}"`)
  })
})

it('a user`s trigger runs inside a verb with the path of its caller', async () => {
  await session.query(`
    create schema app; create table app.log (task_id bigint);
    create function app.log() returns trigger language plpgsql as $$ begin insert into log values (new.id); return new; end $$;
    create trigger log before update on tasks.mail for each row execute function app.log()`)
  const client = await database.client()
  await client.query('set search_path = app')
  await client.query("insert into tasks.mail (planned_to) values ('2020-01-01')")
  await client.query('select tasks.acquire_tasks_mail(1)')
  expect(await scalarOf(client, 'select count(*) > 0 from log')).toBe(true)
})

it('an empty search_path is enough for everything', async () => {
  await session.query("set search_path = ''")
  await useEveryVerb('fresh')
  await useRegistry()
  await session.query('reset search_path')
})
