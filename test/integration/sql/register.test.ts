import type { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { within } from '../../support/wait-for.js'
import { endOpenTransactions } from './end-open-transactions.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { pidOf, waitUntilBlocked } from './wait-until-blocked.js'

const database = await createDatabase()
const session = await database.client()

const like = 'like tasks.template including defaults including identity including indexes'
const register = (args = '', client: Client = session) =>
  client.query(`select tasks.register('tasks', 'mail'${args && `, ${args}`})`)
const settings = async () => {
  const [row] = await rowsOf(session, 'select * from tasks.types')
  return Object.fromEntries(
    Object.entries(row ?? {}).map(([name, value]) => [
      name,
      value !== null && typeof value === 'object'
        ? String((value as { toPostgres?: () => string }).toPostgres?.() ?? value)
        : value,
    ]),
  )
}

beforeEach(() => session.query(`create table tasks.mail (${like}, payload text)`))
afterEach(async () => {
  await session.query('rollback')
  await endOpenTransactions(session)
  await session.query('drop table tasks.mail cascade')
  await session.query("select tasks.unregister('tasks', 'mail')")
})

/** Locks that the session holds on the task table, strongest last. */
const locksOf = (client: Client) =>
  rowsOf<{ mode: string }>(
    session === client ? client : database.pool,
    `select distinct mode from pg_locks where pid = $1 and relation = 'tasks.mail'::regclass and locktype = 'relation'`,
    [pidOf(client)],
  ).then((rows) => rows.map((row) => row.mode))

describe('the two-argument call', () => {
  // O-01
  it('works, and a task of the type runs', async () => {
    await register()
    await session.query("insert into tasks.mail (payload) values ('a')")
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_mail(1)')).toEqual([{ payload: 'a' }])
  })

  // O-03
  it('stores the defaults that are documented', async () => {
    await register()
    expect(await settings()).toMatchObject({
      schema_name: 'tasks',
      table_name: 'mail',
      function_name: 'tasks_mail',
      timeout: '1 minutes',
      max_retries: 20,
      notification_interval: '1 seconds',
      storage_time: null,
      notify: true,
      backoff_base: '1 seconds',
      backoff_max: '1 hours',
      run_limit: null,
    })
  })
})

// O-03, O-52
it('stores every setting that it is given, also by place in the convention`s order', async () => {
  await session.query("select tasks.register('tasks', 'mail', '2 minutes', 3, '5 s', '7 days')")
  expect(await settings()).toMatchObject({
    timeout: '2 minutes',
    max_retries: 3,
    notification_interval: '5 seconds',
    storage_time: '7 days',
  })
  await register(
    "notify => false, backoff_base => '3 s', backoff_max => '4 s', run_limit => '5 s', timeout => null, max_retries => null, notification_interval => null",
  )
  expect(await settings()).toMatchObject({
    timeout: null,
    max_retries: null,
    notification_interval: null,
    storage_time: null,
    notify: false,
    backoff_base: '3 seconds',
    backoff_max: '4 seconds',
    run_limit: '5 seconds',
  })
})

// O-02
it('can be repeated with tasks, leases and notifications about', async () => {
  await register()
  await session.query("insert into tasks.mail (payload) values ('a'), ('b')")
  await session.query('select tasks.acquire_tasks_mail(1, gen_random_uuid())')
  const before = await settings()
  for (let call = 0; call < 3; call += 1) await register()
  expect(await settings()).toEqual(before)
  expect(await scalarOf(session, 'select count(*) from tasks.mail')).toBe('2')
})

describe('a call that changes nothing', () => {
  // B-74
  it('takes no lock stronger than a reader`s, writes nothing and waits for nobody', async () => {
    await register()
    const other = await database.client()
    await other.query('begin')
    await other.query('lock table tasks.mail in share update exclusive mode') // as vacuum does
    await other.query('select pg_advisory_xact_lock(1886415980, 1)') // as a register under way does
    await session.query('begin')
    await session.query("set local lock_timeout = '2 s'")
    await register()
    expect((await locksOf(session)).filter((mode) => mode !== 'AccessShareLock')).toEqual([])
    expect(await scalarOf(session, 'select pg_current_xact_id_if_assigned()')).toBeNull()
    await session.query('commit')
    await other.query('rollback')
  })

  it('needs no more than the right to read the registry', async () => {
    await register()
    const role = await database.createRole('register_again')
    await session.query(`grant usage on schema tasks to ${role.name}; grant select on tasks.types to ${role.name}`)
    await session.query('begin')
    await session.query(`set local role ${role.name}`)
    await register()
    const error = await refusalOf(register('max_retries => 1'))
    expect(error.code).toBe('42501')
    await session.query('rollback')
    await session.query(`drop owned by ${role.name}`)
  })

  // O-46
  it('is invisible to callers under way', async () => {
    await register()
    const oids = () =>
      rowsOf(session, "select oid, xmin from pg_proc where pronamespace = 'tasks'::regnamespace order by 1")
    const before = await oids()
    const poller = await database.client()
    let polls = 0
    const polling = (async () => {
      for (; polls < 200; polls += 1) await poller.query('select * from tasks.acquire_tasks_mail(1)')
    })()
    while (polls < 200) await register()
    await polling
    expect(await oids()).toEqual(before)
  })
})

describe('a call that changes settings', () => {
  it('takes no lock stronger than a reader`s either, and lets callers under way go on', async () => {
    await register()
    const reader = await database.client()
    await reader.query('begin')
    await reader.query('select from tasks.mail')
    await session.query('begin')
    await session.query("set local lock_timeout = '2 s'")
    await register("timeout => '5 s', max_retries => 1")
    expect((await locksOf(session)).filter((mode) => mode !== 'AccessShareLock')).toEqual([])
    await session.query('commit')
    await reader.query('rollback')
  })

  it('is seen by the next call of every verb', async () => {
    await register()
    await session.query('insert into tasks.mail default values')
    await session.query('select tasks.acquire_tasks_mail(1)')
    await register('max_retries => 0')
    expect(await scalarOf(session, 'select tasks.retry_tasks_mail(id) from tasks.mail')).toBe('failed')
  })
})

describe('a call that has to change the table', () => {
  it.each([
    ['read by an open transaction', 'select from tasks.mail'],
    ['written by an open transaction', 'insert into tasks.mail default values'],
  ])(
    'waits a second at most when it is %s, says so and changes nothing; nobody waits longer behind it',
    async (_, statement) => {
      const other = await database.client()
      await other.query('begin')
      await other.query(statement)
      const began = performance.now()
      const refused = refusalOf(register())
      await waitUntilBlocked(database.pool, session)
      const inserter = await database.client()
      await within(inserter.query('insert into tasks.mail default values'), { timeoutMs: 3_000 })
      const error = await refused
      expect(performance.now() - began).toBeLessThan(3_000)
      expect(error).toMatchObject({
        code: 'TQ008',
        message: 'tasks.mail is in use by another transaction; nothing was changed',
      })
      expect(error.hint).toContain('Repeat the call')
      await other.query('rollback')
      expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
      await register()
    },
  )

  it('lets readers be when only triggers are to come or indexes', async () => {
    await register('notify => false')
    await session.query('drop index tasks.mail_finished_at_idx')
    const reader = await database.client()
    await reader.query('begin')
    await reader.query('select from tasks.mail')
    await register('notify => true')
    await reader.query('rollback')
    expect(
      await scalarOf(
        session,
        "select count(*) from pg_trigger where tgrelid = 'tasks.mail'::regclass and tgname like 'pg_tasks_notify%'",
      ),
    ).toBe('2')
  })

  it('never lengthens a lock_timeout, and leaves it as it was', async () => {
    const other = await database.client()
    await other.query('begin')
    await other.query('select from tasks.mail')
    await session.query("set lock_timeout = '50 ms'")
    const began = performance.now()
    expect((await refusalOf(register())).code).toBe('TQ008')
    expect(performance.now() - began).toBeLessThan(900)
    await other.query('rollback')
    await session.query('begin')
    await register()
    expect(await scalarOf(session, 'show lock_timeout')).toBe('50ms')
    await session.query('commit')
    await session.query('reset lock_timeout')
  })
})

// B-65
it('ten concurrent calls end in one type, without an error', async () => {
  const clients = await Promise.all(Array.from({ length: 10 }, () => database.client()))
  await Promise.all(clients.map((client) => register('', client)))
  expect(await scalarOf(session, 'select count(*) from tasks.types')).toBe('1')
  expect(
    await scalarOf(
      session,
      "select count(*) from pg_proc where pronamespace = 'tasks'::regnamespace and proname like '%\\_tasks\\_mail'",
    ),
  ).toBe(await scalarOf(session, 'select count(*) from tasks.verbs()'))
  await Promise.all(clients.map((client, index) => register(`max_retries => ${index % 3}`, client)))
  expect(await scalarOf(session, 'select count(*) from tasks.types')).toBe('1')
})

it('is undone whole with its transaction', async () => {
  await session.query('begin')
  await register()
  await session.query('rollback')
  expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
  expect(await scalarOf(session, "select count(*) from pg_trigger where tgrelid = 'tasks.mail'::regclass")).toBe('0')
  expect(await scalarOf(session, "select count(*) from pg_proc where proname like '%\\_tasks\\_mail'")).toBe('0')
})

it('replaces what is missing of a type, and drops namesakes with other arguments', async () => {
  await register()
  await session.query('drop function tasks.finish_tasks_mail')
  await session.query('drop view tasks.stats_of_tasks_mail')
  await session.query("create function tasks.reset_tasks_mail(task_id integer) returns void language sql as ''")
  await session.query('drop trigger pg_tasks_notify_insert on tasks.mail')
  await register()
  expect(await scalarOf(session, "select count(*) from pg_proc where proname like '%\\_tasks\\_mail'")).toBe(
    await scalarOf(session, 'select count(*) from tasks.verbs()'),
  )
  await session.query('insert into tasks.mail default values')
  await session.query('select tasks.acquire_tasks_mail(1)')
  expect(await scalarOf(session, 'select tasks.reset_tasks_mail(id) from tasks.mail')).toBe('running')
  expect(await scalarOf(session, 'select total from tasks.stats_of_tasks_mail')).toBe('1')
  expect(await scalarOf(session, "select count(*) from pg_trigger where tgname = 'pg_tasks_notify_insert'")).toBe('1')
})

// O-29
it.each([
  ["timeout => '-1 min'", 'register: timeout must not be negative, not -00:01:00'],
  ["timeout => '0'", 'register: timeout must be at least 100 ms, not 00:00:00'],
  ["timeout => '99 ms'", 'register: timeout must be at least 100 ms, not 00:00:00.099'],
  ["timeout => '2000 years'", 'register: timeout must be at most 1000 years, not 2000 years'],
  ['max_retries => -1', 'register: max_retries must not be negative, not -1'],
  ["notification_interval => '-1 s'", 'register: notification_interval must not be negative, not -00:00:01'],
  ["storage_time => '-1 day'", 'register: storage_time must not be negative, not -1 days'],
  ["storage_time => '1 mon -31 days'", 'register: storage_time must not be negative, not 1 mon -31 days'],
  ['notify => null', 'register: notify must be true or false, not NULL'],
  ["backoff_base => '0'", 'register: backoff_base must be at least 1 ms, not 00:00:00'],
  ['backoff_base => null', 'register: backoff_base must be at least 1 ms, not NULL'],
  ["backoff_base => '2 s', backoff_max => '1 s'", 'register: backoff_max must be at least backoff_base, not 00:00:01'],
  ['backoff_max => null', 'register: backoff_max must be at least backoff_base, not NULL'],
  ["run_limit => '0'", 'register: run_limit must be positive, not 00:00:00'],
  ["run_limit => '-1 s'", 'register: run_limit must not be negative, not -00:00:01'],
  ["function_name => ''", 'register: function_name must not be empty'],
])('refuses %s and registers nothing', async (args, message) => {
  expect(await refusalOf(register(args))).toMatchObject({ code: 'TQ003', message })
  expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
})

it('refuses infinite intervals, which PostgreSQL has since 17', async () => {
  if (Number(await scalarOf(session, 'show server_version_num')) < 170_000) {
    expect((await refusalOf(register("timeout => 'infinity'"))).code).toBe('22007')
    return
  }
  for (const setting of [
    'timeout',
    'notification_interval',
    'storage_time',
    'backoff_base',
    'backoff_max',
    'run_limit',
  ]) {
    expect(await refusalOf(register(`${setting} => 'infinity'`))).toMatchObject({
      code: 'TQ003',
      message: `register: ${setting} must be at most 1000 years, not infinity`,
    })
    expect(await refusalOf(register(`${setting} => '-infinity'`))).toMatchObject({
      code: 'TQ003',
      message: `register: ${setting} must not be negative, not -infinity`,
    })
  }
  await register()
  await session.query('insert into tasks.mail default values')
  await session.query('select tasks.acquire_tasks_mail(1)')
  expect(
    (await refusalOf(session.query("select tasks.retry_tasks_mail(id, delay => 'infinity') from tasks.mail"))).code,
  ).toBe('TQ003')
  expect((await refusalOf(session.query("select tasks.clean_tasks_mail('infinity')"))).code).toBe('TQ003')
})

it('refuses NULL for a name and a name that is no table', async () => {
  for (const names of ["null, 'mail'", "'tasks', null", 'null, null']) {
    expect(await refusalOf(session.query(`select tasks.register(${names})`))).toMatchObject({
      code: 'TQ003',
      message: 'register: schema_name and table_name must not be NULL',
    })
  }
  for (const [schema, table] of [
    ['tasks', 'nothing'],
    ['nowhere', 'mail'],
    ['', ''],
    ['tasks', '"mail"'],
    ['tasks', 'MAIL'],
  ]) {
    const error = await refusalOf(session.query('select tasks.register($1, $2)', [schema, table]))
    expect(error.code).toBe('TQ004')
    expect(error.message).toContain('register: there is no table')
    expect(error.hint).toContain('without quotes')
  }
})

// O-29, O-30
it('the registry itself refuses nonsense that is written by hand', async () => {
  await register()
  for (const [column, value] of [
    ['timeout', "'-1 s'"],
    ['timeout', "'0'"],
    ['max_retries', '-1'],
    ['notification_interval', "'-1 s'"],
    ['storage_time', "'-1 s'"],
    ['backoff_base', "'0'"],
    ['backoff_max', "'1 ms'"],
    ['run_limit', "'0'"],
  ]) {
    const error = await refusalOf(session.query(`update tasks.types set ${column} = ${value}`))
    expect(error.code, column).toBe('23514')
    expect(error.constraint, column).toContain(`${column}_is_`)
  }
  const copy = await refusalOf(
    session.query(
      "insert into tasks.types (table_id, schema_name, table_name, function_name) values ('tasks.leases', 'tasks', 'mail', 'x')",
    ),
  )
  expect(copy.code).toBe('23505')
})
