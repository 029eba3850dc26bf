import { rmSync } from 'node:fs'
import { migrate } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestedMajor } from '../support/postgres-major.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { installExtension, installScript, type Original, type OriginalVersion } from './original/install.js'

type Install = (client: Client, version: OriginalVersion) => Promise<Original>

const cases: ReadonlyArray<readonly [string, Install, OriginalVersion]> = [
  ['installed by its script', installScript, 'newer'],
  ['of an older version', installScript, 'older'],
  ['installed as an extension', installExtension, 'newer'],
]

const ROWS = `
  insert into tasks.do_something (payload, planned_to, started_at, finished_at, execution_count) values
    ('ready', now() - interval '1 minute', null, null, 0),
    ('future', now() + interval '1 hour', null, null, 0),
    ('running', now() - interval '1 minute', now(), null, 1),
    ('left by a worker that died', now() - interval '1 day', now() - interval '1 day', null, 1),
    ('finished', now() - interval '1 day', now() - interval '1 day', now() - interval '1 day', 1),
    ('used up', now() - interval '1 day', null, null, 4),
    ('used up while running', now() - interval '1 day', now() - interval '1 day', null, 4);
  insert into tasks.do_something (payload, created_at, planned_to, execution_count) values ('of NULLs', null, null, null)`

const TABLES = [{ table_name: 'do_something' }, { table_name: 'letter' }]

describe.each(cases)('A database of the original %s', (_, install, version) => {
  const skipped = install === installExtension && requestedMajor() < 18
  if (skipped) {
    it.skip("is adopted (an extension outside the server's own folder needs PostgreSQL 18)")
    return
  }

  let original: Original
  let database: TestDatabase
  let client: Client
  const rows = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows
  const states = () =>
    rows(
      `select payload, tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) as state
       from tasks.do_something order by id`,
    ).then((all) => Object.fromEntries(all.map(({ payload, state }) => [payload, state])))

  beforeAll(async () => {
    database = await createDatabase({ migrations: false })
    client = await database.client()
    original = await install(client, version)
    await client.query(`
      create table tasks.do_something (like tasks.template including all, payload text);
      create schema shop;
      create table shop.letter (like tasks.template including all, address text not null);
      select tasks.register('tasks', 'do_something', timeout => '2 hours', max_retries => 3, notification_interval => '5s', storage_time => '1 week');
      select tasks.register('shop', 'letter', timeout => null);
      create view public.totals as select table_name, total from tasks.stats;
      create view public.do_something_totals as select total, completed from tasks.stats_of_tasks_do_something;
      create view public.registered as select table_name from tasks.types`)
    await client.query(ROWS)
    if (version === 'newer') {
      await client.query(`
        insert into tasks.do_something (payload, canceled) values ('canceled', true), ('of a NULL in canceled', null);
        insert into tasks.do_something (payload, canceled, started_at) values ('canceled while running', true, now())`)
    }
    await migrate(client)
  })
  afterAll(() => {
    if (original?.folder) rmSync(original.folder, { recursive: true })
  })

  it('goes on as it is until it is adopted', async () => {
    await client.query('listen pg_tasks')
    const heard = new Promise((resolve) => client.once('notification', ({ payload }) => resolve(payload)))
    const [{ id }] = await rows(`insert into tasks.do_something (payload) values ('between') returning id`)
    expect(await heard).toBe('tasks.do_something')
    await client.query('unlisten pg_tasks')
    expect(await rows('select payload from tasks.acquire_tasks_do_something(1)')).toEqual([{ payload: 'between' }])
    await client.query('select tasks.finish_tasks_do_something($1, now(), $2)', [id, 'by the original'])
    expect(await rows('select comment from tasks.do_something where id = $1', [id])).toEqual([
      { comment: 'by the original' },
    ])
    expect(await rows('select table_name from public.totals order by 1')).toEqual(TABLES)
  })

  it('is adopted with its settings, and only once', async () => {
    expect(await rows('select * from tasks.adopt() order by 1')).toEqual([
      { adopted_schema: 'shop', adopted_table: 'letter' },
      { adopted_schema: 'tasks', adopted_table: 'do_something' },
    ])
    expect(
      await rows(
        `select schema_name, table_name, timeout::text, max_retries, notification_interval::text, storage_time::text from tasks.types order by 1`,
      ),
    ).toEqual([
      {
        schema_name: 'shop',
        table_name: 'letter',
        timeout: null,
        max_retries: 0,
        notification_interval: '00:00:01',
        storage_time: null,
      },
      {
        schema_name: 'tasks',
        table_name: 'do_something',
        timeout: '02:00:00',
        max_retries: 3,
        notification_interval: '00:00:05',
        storage_time: '7 days',
      },
    ])
    expect(await rows('select * from tasks.adopt()')).toEqual([])
    expect(await rows(`select extname from pg_extension where extname = 'pg_tasks'`)).toEqual([])
  })

  it('has every task in the state that it meant', async () => {
    expect(await states()).toMatchObject({
      ready: 'ready',
      future: 'scheduled',
      running: 'running',
      'left by a worker that died': 'running',
      finished: 'finished',
      'used up': 'failed',
      'used up while running': 'running',
      'of NULLs': 'ready',
      between: 'finished',
      ...(version === 'newer' && {
        canceled: 'canceled',
        'canceled while running': 'canceled',
        'of a NULL in canceled': 'ready',
      }),
    })
    // What its worker left is over and comes back; what was running just now keeps its two hours.
    await client.query('select tasks.rescue_tasks_do_something()')
    expect(await states()).toMatchObject({
      running: 'running',
      'left by a worker that died': 'ready',
      'used up while running': 'failed',
    })
  })

  it('keeps what users built on its statistics and registry', async () => {
    expect(await rows('select total::int from public.do_something_totals')).toEqual([{ total: expect.any(Number) }])
    expect(await rows('select table_name from public.totals order by 1')).toEqual(TABLES)
    expect(await rows('select table_name from public.registered order by 1')).toEqual(TABLES)
    const [stats] = await rows(
      `select total::int, scheduled + ready + running + finished + failed + canceled as sum from tasks.stats_of_tasks_do_something`,
    )
    expect(Number(stats.sum)).toBe(stats.total)
  })

  it('announces what is enqueued once', async () => {
    const listener = await database.client()
    const heard: unknown[] = []
    listener.on('notification', ({ payload }) => heard.push(payload))
    await listener.query('listen pg_tasks')
    await listener.query(`insert into shop.letter (address) values ('a')`)
    await listener.query('select 1')
    expect(heard).toEqual(['shop.letter'])
    expect(
      await rows(`select tgname from pg_trigger where tgrelid = 'shop.letter'::regclass and tgname = 'notify_on_new'`),
    ).toEqual([])
  })

  it('answers the calls of its workers as before', async () => {
    await client.query('truncate tasks.do_something')
    await client.query(`insert into tasks.do_something (payload) select 'new ' || g from generate_series(1, 4) g`)
    const acquired = await rows('SELECT * FROM tasks.acquire_tasks_do_something($1)', [4])
    expect(acquired.map(({ payload }) => payload)).toEqual(['new 1', 'new 2', 'new 3', 'new 4'])
    expect(acquired[0]).toMatchObject({ started_at: expect.any(Date), execution_count: 1 })
    // As Python's drivers send them: literals, whose type is what the server makes of them, and small ids as smallint.
    const [first, second, third, fourth] = acquired.map(({ id }) => id)
    await client.query(
      `SELECT tasks.finish_tasks_do_something(${first}::smallint, '${acquired[0].created_at.toISOString()}', 'done')`,
    )
    await client.query(`SELECT tasks.retry_tasks_do_something(${second}::smallint, '2099-01-01', 'later')`)
    await client.query(`SELECT tasks.cancel_tasks_do_something(${third}::smallint, NULL, 'not wanted')`)
    await client.query(`SELECT tasks.finish_tasks_do_something(${fourth}, NULL)`)
    await client.query(`SELECT tasks.reset_tasks_do_something(${fourth}::smallint)`)
    expect(await rows(`select payload, comment from tasks.do_something where id <> $1 order by id`, [fourth])).toEqual([
      { payload: 'new 1', comment: 'done' },
      { payload: 'new 2', comment: 'later' },
      { payload: 'new 3', comment: 'not wanted' },
    ])
    expect(await states()).toEqual({ 'new 1': 'finished', 'new 2': 'scheduled', 'new 3': 'canceled', 'new 4': 'ready' })
    const [{ cleaned }] = await rows(`SELECT tasks.clean_tasks_do_something('0 seconds') AS cleaned`)
    expect(Number(cleaned)).toBe(1)
  })

  it('registers new types beside the adopted ones', async () => {
    await client.query(
      'create table tasks.fresh (like tasks.template including defaults including identity including indexes)',
    )
    await client.query(`select tasks.register('tasks', 'fresh')`)
    await client.query('insert into tasks.fresh default values')
    expect(await rows('select id from tasks.acquire_tasks_fresh(10)')).toHaveLength(1)
    await client.query(`select tasks.register('tasks', 'do_something', timeout => '3 hours')`)
    expect(await rows(`select timeout::text from tasks.types where table_name = 'do_something'`)).toEqual([
      { timeout: '03:00:00' },
    ])
  })
})
