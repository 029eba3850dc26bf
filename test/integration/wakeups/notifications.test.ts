import type { Client } from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { scalarOf } from '../sql/rows-of.js'
import { Listening } from './heard.js'

let database: TestDatabase
let listening: Listening
let client: Client

beforeAll(async () => {
  database = await createDatabase()
  listening = await Listening.start(await database.client(), await database.client())
  await createTaskType(database.pool, 'letter', { columns: 'payload text unique' })
  await createTaskType(database.pool, 'silent', { settings: 'notify => false' })
})

/** A session without a past: what it did before doesn't count. */
beforeEach(async () => {
  client = await database.client()
})

const heard = (...statements: string[]) =>
  listening.heardDuring(async () => {
    for (const statement of statements) await client.query(statement)
  })

const LETTER = 'tasks.letter'

describe('Nobody of ours is awake: a commit that enqueues', () => {
  it('notifies once per statement with rows, and not at all for one without', async () => {
    await database.pool.query(`insert into tasks.letter (payload) values ('there')`)
    expect(await heard(`insert into tasks.letter (payload) values ('there') on conflict do nothing`)).toEqual([])
    expect(await heard(`insert into tasks.letter (payload) select 'none' where false`)).toEqual([])
    expect(await heard(`copy tasks.letter (payload) from program 'true'`)).toEqual([])
    expect(await heard(`copy tasks.letter (payload) from program 'printf "a\\nb\\nc\\n"'`)).toEqual([LETTER])
    expect(await heard(`insert into tasks.letter (payload) values ('d'), ('e'), ('f')`)).toEqual([LETTER])
  })

  it('notifies nobody for an empty statement right after one with rows', async () => {
    expect(await heard(`insert into tasks.letter (payload) values ('g')`)).toEqual([LETTER])
    expect(await heard(`insert into tasks.letter (payload) select 'none' where false`)).toEqual([])
    expect(await heard(`update tasks.letter set planned_to = now() where false`)).toEqual([])
  })

  it('notifies once for a transaction, at its commit', async () => {
    const statements = [
      'begin',
      ...['h', 'i', 'j'].map((payload) => `insert into tasks.letter (payload) values ('${payload}')`),
    ]
    expect(await heard(...statements)).toEqual([])
    expect(await heard('commit')).toEqual([LETTER])
  })

  it('notifies nobody when it is rolled back, as a whole or to a savepoint', async () => {
    expect(await heard('begin', `insert into tasks.letter (payload) values ('k')`, 'rollback')).toEqual([])
    const back = ['begin', 'savepoint s', `insert into tasks.letter (payload) values ('k')`, 'rollback to s']
    expect(await heard(...back, 'commit')).toEqual([])
    expect(await heard(...back, `insert into tasks.letter (payload) values ('l')`, 'commit')).toEqual([LETTER])
  })

  it('notifies for the rows of an upsert, be they new or only planned anew', async () => {
    const upsert = `insert into tasks.letter (payload) values ('m') on conflict (payload) do update set planned_to = now()`
    expect(await heard(upsert)).toEqual([LETTER])
    expect(await heard(upsert)).toEqual([LETTER])
  })

  it('notifies when a task is planned anew, not when something else of it changes', async () => {
    await client.query(`insert into tasks.letter (payload) values ('n')`)
    expect(await heard(`update tasks.letter set planned_to = now() where payload = 'n'`)).toEqual([LETTER])
    expect(await heard(`update tasks.letter set priority = 0 where payload = 'n'`)).toEqual([])
  })

  it('notifies although statistics are not counted', async () => {
    await client.query('set track_counts to off')
    expect(await heard(`insert into tasks.letter (payload) values ('o')`)).toEqual([LETTER])
  })

  it('notifies nobody where the type is registered so', async () => {
    expect(await heard(`insert into tasks.silent (payload) values ('a')`)).toEqual([])
    expect(await scalarOf(database.pool, `select count(*)::int from tasks.acquire_tasks_silent(10)`)).toBe(1)
    await client.query(`select tasks.configure('tasks', 'silent', 'notify', 'true')`)
    expect(await heard(`insert into tasks.silent (payload) values ('b')`)).toEqual(['tasks.silent'])
    await client.query(`select tasks.configure('tasks', 'silent', 'notify', 'false')`)
    expect(await heard(`insert into tasks.silent (payload) values ('c')`)).toEqual([])
  })
})

describe('The payload', () => {
  it('is schema and name as they are, without quotes, and follows a rename', async () => {
    await client.query(`create schema "Odd ""Schema"`)
    await client.query(
      `create table "Odd ""Schema"."Ta.ble" (like tasks.template including defaults including identity including indexes)`,
    )
    await client.query(`select tasks.register('Odd "Schema', 'Ta.ble', function_name => 'odd')`)
    expect(await heard(`insert into "Odd ""Schema"."Ta.ble" default values`)).toEqual(['Odd "Schema.Ta.ble'])
    await client.query(`alter table "Odd ""Schema"."Ta.ble" rename to plain`)
    expect(await heard(`insert into "Odd ""Schema".plain default values`)).toEqual(['Odd "Schema.plain'])
  })
})

describe('An enqueuer', () => {
  it('needs no right but INSERT on the table', async () => {
    const role = await database.createRole('producer')
    await database.pool.query(`grant usage on schema tasks to "${role.name}"`)
    await database.pool.query(`grant insert on tasks.letter to "${role.name}"`)
    await client.query(`set role "${role.name}"`)
    expect(await heard(`insert into tasks.letter (payload) values ('p')`)).toEqual([LETTER])
  })

  it('cannot be made to run what its search_path puts before the server', async () => {
    await client.query(`
      create schema shadow;
      create function shadow.trap(text) returns void language plpgsql as $$ begin raise 'trapped by %', $1; end $$;
      create function shadow.pg_notify(text, text) returns void language sql as $$ select shadow.trap('pg_notify') $$;
      create function shadow.concat(text, text, text) returns text language sql as $$ select shadow.trap('concat')::text $$;
      create function shadow.eq(bigint, integer) returns boolean language sql as $$ select shadow.trap('=') is null $$;
      create function shadow.eq(text, text) returns boolean language sql as $$ select shadow.trap('=') is null $$;
      create function shadow.lt(double precision, numeric) returns boolean language sql as $$ select shadow.trap('<') is null $$;
      create operator shadow.= (leftarg = bigint, rightarg = integer, function = shadow.eq);
      create operator shadow.= (leftarg = text, rightarg = text, function = shadow.eq);
      create operator shadow.< (leftarg = double precision, rightarg = numeric, function = shadow.lt);
      create domain shadow.int4 as text`)
    await client.query('set search_path = shadow, pg_catalog')
    await expect(client.query(`select 1 where 'a'::text = 'b'`)).rejects.toThrow('trapped')
    expect(await heard(`insert into tasks.letter (payload) values ('q')`)).toEqual([LETTER])
  })
})

describe('The sleep locks', () => {
  const table = `'tasks.letter'::regclass::oid`

  it('decide who is told: everybody while somebody sleeps, nobody while all of ours will look by themselves', async () => {
    const worker = await database.client()
    let last = 0
    const insert = () => heard(`insert into tasks.letter (payload) values ('worker ${++last}')`)
    await worker.query(`select tasks.stay_awake(${table})`)
    expect(await insert()).toEqual([])
    await worker.query(`select tasks.fall_asleep(${table})`)
    expect(await insert()).toEqual([LETTER])
    await worker.query(`select tasks.wake_up(${table})`)
    expect(await insert()).toEqual([])
    await worker.query(`select tasks.stop_awake(${table})`)
    expect(await insert()).toEqual([LETTER])
  })

  it('vanish with the session that held them', async () => {
    const worker = await database.client()
    await worker.query(`select tasks.stay_awake(${table})`)
    expect(await heard(`insert into tasks.letter (payload) values ('r')`)).toEqual([])
    const gone = new Promise<void>((resolve) => worker.once('end', () => resolve()))
    await database.pool.query('select pg_terminate_backend($1, 5000)', [
      await scalarOf(worker, 'select pg_backend_pid()'),
    ])
    await gone
    expect(await heard(`insert into tasks.letter (payload) values ('s')`)).toEqual([LETTER])
  })

  it('are held by one worker as the promise to look, and by any number as sleep', async () => {
    const [first, second] = [await database.client(), await database.client()]
    expect(await scalarOf(first, `select tasks.stay_awake(${table})`)).toBe(true)
    expect(await scalarOf(second, `select tasks.stay_awake(${table})`)).toBe(false)
    await first.query(`select tasks.fall_asleep(${table})`)
    await second.query(`select tasks.fall_asleep(${table})`)
    expect(await scalarOf(first, `select tasks.stop_awake(${table})`)).toBe(true)
    expect(await scalarOf(second, `select tasks.stay_awake(${table})`)).toBe(true)
    await Promise.all([first.end(), second.end()])
  })

  it('tell a worker whether a transaction that enqueued is still open, of whatever isolation', async () => {
    const worker = await database.client()
    const quiet = () => scalarOf(worker, `select tasks.nothing_in_flight(${table})`)
    for (const isolation of ['read committed', 'repeatable read', 'serializable']) {
      await client.query(`begin isolation level ${isolation}`)
      expect(await quiet()).toBe(true)
      await client.query(`insert into tasks.letter (payload) values ('in flight, ${isolation}')`)
      expect(await quiet()).toBe(false)
      await client.query('commit')
      expect(await quiet()).toBe(true)
    }
    // And leaves no lock behind.
    expect(
      await scalarOf(
        database.pool,
        `select count(*)::int from pg_locks where locktype = 'advisory' and objid = ${table}`,
      ),
    ).toBe(0)
  })
})
