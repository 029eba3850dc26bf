import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { endOpenTransactions } from './end-open-transactions.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

const database = await createDatabase()
const session = await database.client()

beforeEach(() => createTaskType(session, 'mail'))
afterEach(async () => {
  await session.query('rollback')
  await endOpenTransactions(session)
  await session.query('drop table if exists tasks.mail cascade')
  await session.query("select tasks.unregister('tasks', 'mail')")
})

const configure = (setting: string | null, value: string | null) =>
  session.query("select tasks.configure('tasks', 'mail', $1, $2)", [setting, value])
const settings = async () => (await rowsOf(session, 'select to_jsonb(y) as settings from tasks.types y'))[0]?.settings
const triggers = async () =>
  (
    await rowsOf(
      session,
      "select tgname from pg_trigger where tgrelid = 'tasks.mail'::regclass and tgname like 'pg_tasks_notify%' order by 1",
    )
  ).map((row) => row.tgname)
const objectsOf = (name: string) =>
  scalarOf(
    session,
    `select (select count(*) from pg_proc where pronamespace = 'tasks'::regnamespace and right(proname, length($1)) = $1)
       + (select count(*) from pg_class where relnamespace = 'tasks'::regnamespace and relname = 'stats_of' || $1)`,
    [`_${name}`],
  )

describe('configure', () => {
  // O-52
  it.each([
    ['timeout', '00:00:05'],
    ['max_retries', '7'],
    ['notification_interval', '00:00:09'],
    ['storage_time', '30 days'],
    ['notify', 'false'],
    ['backoff_base', '00:00:02'],
    ['backoff_max', '02:00:00'],
    ['run_limit', '00:10:00'],
  ])('changes %s and nothing else', async (setting, value) => {
    const before = await settings()
    await configure(setting, value)
    const after = await settings()
    expect(String(after[setting])).toBe(value)
    expect({ ...after, [setting]: before[setting] }).toEqual(before)
  })

  it.each(['timeout', 'max_retries', 'notification_interval', 'storage_time', 'run_limit'])(
    'takes NULL for %s',
    async (setting) => {
      await configure(setting, '1')
      await configure(setting, null)
      expect((await settings())[setting]).toBeNull()
    },
  )

  it.each([
    ['timeout', '-1 s', 'configure: timeout must not be negative, not -00:00:01'],
    ['timeout', 'soon', "configure: timeout can't be 'soon': invalid input syntax for type interval: \"soon\""],
    ['timeout', '999999999999999 years', expect.stringContaining("configure: timeout can't be")],
    ['max_retries', '-1', 'configure: max_retries must not be negative, not -1'],
    ['max_retries', '3.5', expect.stringContaining("configure: max_retries can't be '3.5'")],
    ['max_retries', '99999999999', expect.stringContaining("configure: max_retries can't be '99999999999'")],
    ['notify', 'maybe', expect.stringContaining("configure: notify can't be 'maybe'")],
    ['notify', null, 'configure: notify must be true or false, not NULL'],
    ['backoff_max', '1 us', 'configure: backoff_max must be at least backoff_base, not 00:00:00.000001'],
    ['backoff_base', '2 hours', 'configure: backoff_max must be at least backoff_base, not 01:00:00'],
    ['table_name', 'x', 'configure: there is no setting table_name'],
    [null, 'x', 'configure: there is no setting NULL'],
  ])('refuses %s = %s and changes nothing', async (setting, value, message) => {
    const before = await settings()
    const error = await refusalOf(configure(setting, value))
    expect(error).toMatchObject({ code: 'TQ003', message })
    if (setting === 'table_name') expect(error.hint).toContain('timeout, max_retries')
    expect(await settings()).toEqual(before)
  })

  it('puts the notify triggers on and off', async () => {
    await configure('notify', 'off')
    expect(await triggers()).toEqual([])
    await configure('notify', 'on')
    expect(await triggers()).toEqual(['pg_tasks_notify_insert', 'pg_tasks_notify_update'])
  })

  it('takes no lock on the table for what stands in the registry alone', async () => {
    const other = await database.client()
    await other.query('begin')
    await other.query('lock table tasks.mail in share update exclusive mode')
    await session.query("set lock_timeout = '2 s'")
    await configure('max_retries', '3')
    await session.query('reset lock_timeout')
    await other.query('rollback')
  })

  it('refuses a table that is not registered, whatever its name', async () => {
    for (const [schema, table] of [
      ['tasks', 'nothing'],
      [null, 'mail'],
      ['tasks', null],
      ['tasks', 'types'],
    ]) {
      const error = await refusalOf(session.query("select tasks.configure($1, $2, 'timeout', '1 s')", [schema, table]))
      expect(error.code).toBe('TQ004')
      expect(error.message).toContain('is not registered')
    }
  })
})

describe('unregister', () => {
  it('takes the functions, view, triggers, leases and the registry row, and leaves the table with its rows', async () => {
    await session.query("insert into tasks.mail (payload) values ('a'), ('b')")
    await session.query('select tasks.acquire_tasks_mail(1, gen_random_uuid())')
    await session.query("select tasks.unregister('tasks', 'mail')")
    expect(await objectsOf('tasks_mail')).toBe('0')
    expect(await rowsOf(session, "select tgname from pg_trigger where tgrelid = 'tasks.mail'::regclass")).toEqual([])
    expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
    expect(await rowsOf(session, 'select from tasks.leases')).toEqual([])
    expect(await scalarOf(session, 'select count(*) from tasks.mail')).toBe('2')
    await session.query("insert into tasks.mail (payload) values ('c')")
  })

  // O-02, O-45
  it('is idempotent, also for what was never there or is partly gone', async () => {
    await session.query(
      'drop function tasks.acquire_tasks_mail; drop view tasks.stats_of_tasks_mail; drop trigger pg_tasks_notify_insert on tasks.mail',
    )
    for (let call = 0; call < 3; call += 1) await session.query("select tasks.unregister('tasks', 'mail')")
    await session.query("select tasks.unregister('tasks', 'nothing'), tasks.unregister('nowhere', 'mail')")
    expect(await objectsOf('tasks_mail')).toBe('0')
    await session.query("select tasks.register('tasks', 'mail')")
    expect(await scalarOf(session, 'select count(*) from tasks.types')).toBe('1')
  })

  it('leaves what objects of the user`s depend on, and says so', async () => {
    const notices: string[] = []
    session.on('notice', (notice) => notices.push(notice.message ?? ''))
    await session.query('create view taken as select * from tasks.acquire_tasks_mail(1)')
    await session.query("select tasks.unregister('tasks', 'mail')")
    expect(notices).toEqual([
      expect.stringMatching(/^the function tasks\.acquire_tasks_mail\(.*\) stays: other objects depend on it$/),
    ])
    expect(await objectsOf('tasks_mail')).toBe('1')
    expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
    expect(await refusalOf(session.query('select * from taken'))).toMatchObject({
      code: 'TQ004',
      message: 'acquire: tasks.mail is not registered',
    })
    await session.query("select tasks.register('tasks', 'mail')")
    await session.query("insert into tasks.mail (payload) values ('a')")
    expect(await rowsOf(session, 'select payload from taken')).toEqual([{ payload: 'a' }])
  })

  it('waits a second at most for a table in use, and changes nothing then', async () => {
    const other = await database.client()
    await other.query('begin')
    await other.query('select from tasks.mail')
    const error = await refusalOf(session.query("select tasks.unregister('tasks', 'mail')"))
    expect(error).toMatchObject({
      code: 'TQ008',
      message: 'tasks.mail is in use by another transaction; nothing was changed',
    })
    await other.query('rollback')
    expect(await scalarOf(session, 'select count(*) from tasks.types')).toBe('1')
  })

  it('refuses NULL', async () => {
    expect((await refusalOf(session.query("select tasks.unregister(null, 'mail')"))).code).toBe('TQ003')
  })

  it('leaves every other type alone', async () => {
    await createTaskType(session, 'other_mail')
    const oids = () =>
      rowsOf(session, "select oid, xmin from pg_proc where proname like '%\\_tasks\\_other\\_mail' order by 1")
    const before = await oids()
    await session.query("select tasks.unregister('tasks', 'mail')")
    expect(await oids()).toEqual(before)
    await session.query('insert into tasks.other_mail default values')
    expect(await rowsOf(session, 'select from tasks.acquire_tasks_other_mail(1)')).toHaveLength(1)
    await session.query('drop table tasks.other_mail cascade')
  })
})

describe('describe', () => {
  it('gives the settings in milliseconds, and no row for what is not registered', async () => {
    await configure('run_limit', '1 day')
    expect(await rowsOf(session, "select * from tasks.describe('tasks', 'mail')")).toMatchObject([
      {
        schema_name: 'tasks',
        table_name: 'mail',
        function_name: 'tasks_mail',
        timeout_ms: 60_000,
        max_retries: 20,
        storage_ms: null,
        notify: true,
        run_limit_ms: 86_400_000,
      },
    ])
    expect(await rowsOf(session, "select * from tasks.describe('tasks', 'nothing')")).toEqual([])
    expect(await rowsOf(session, 'select * from tasks.describe(null, null)')).toEqual([])
  })
})
