import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

// A type is its table, by identity: it follows a rename and goes with a drop; other types never notice (O-43, O-44, B-71).
const database = await createDatabase()
const session = await database.client()

beforeEach(async () => {
  await createTaskType(session, 'mail')
  await createTaskType(session, 'sms')
})
afterEach(async () => {
  await session.query('drop schema if exists app cascade')
  await session.query('drop table if exists tasks.mail, tasks.letter, tasks.sms cascade')
  await session.query("select tasks.unregister('tasks', 'nothing')")
  expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
})

const refresh = (table: string) => scalarOf(session, 'select tasks.refresh($1::regclass)', [table])
const names = async () =>
  (await rowsOf(session, "select schema_name || '.' || table_name as name from tasks.types order by 1")).map(
    (row) => row.name,
  )

describe('a table that is renamed', () => {
  it('is announced by its new name', async () => {
    const listener = await database.client()
    const heard: string[] = []
    listener.on('notification', (notification) => heard.push(notification.payload ?? ''))
    await listener.query('listen pg_tasks')
    await session.query('alter table tasks.mail rename to letter')
    await session.query('insert into tasks.letter default values')
    await session.query('create schema app; alter table tasks.letter set schema app')
    await session.query('insert into app.letter default values')
    await session.query('alter schema app rename to "App 2"')
    await session.query('insert into "App 2".letter default values')
    await session.query('alter schema "App 2" rename to app')
    await listener.query('select')
    expect(heard).toEqual(['tasks.letter', 'app.letter', 'App 2.letter'])
    await listener.end()
  })

  it('is found by its new name, and by its old one as long as no table bears that', async () => {
    await session.query('alter table tasks.mail rename to letter')
    const nameOf = async (table: string) =>
      (await rowsOf(session, "select table_name from tasks.describe('tasks', $1)", [table]))[0]?.table_name
    expect(await nameOf('letter')).toBe('letter')
    expect(await nameOf('mail')).toBe('letter')
    await session.query('create table tasks.mail (id bigint)')
    expect(await nameOf('mail')).toBeUndefined()
    expect((await refusalOf(session.query("select tasks.configure('tasks', 'mail', 'timeout', '1 s')"))).code).toBe(
      'TQ004',
    )
    await session.query("select tasks.unregister('tasks', 'mail')")
    expect(await names()).toEqual(['tasks.mail', 'tasks.sms'])
    expect(await scalarOf(session, "select table_name from tasks.stats where table_name = 'letter'")).toBe('letter')
  })

  it('runs again after refresh, in sessions that ran it before and in new ones, under the old function names', async () => {
    await session.query("insert into tasks.mail (payload) values ('a'), ('b'), ('c')")
    await session.query('select tasks.acquire_tasks_mail(1)')
    await session.query('alter table tasks.mail rename to letter')
    const other = await database.client()
    for (const client of [session, other])
      expect((await refusalOf(client.query('select tasks.acquire_tasks_mail(1)'))).code).toBe('42P01')
    expect(await refresh('tasks.letter')).toBe(true)
    for (const [client, payload] of [
      [session, 'b'],
      [other, 'c'],
    ] as const) {
      expect(await rowsOf(client, 'select payload from tasks.acquire_tasks_mail(1)')).toEqual([{ payload }])
    }
    expect(await scalarOf(session, 'select running from tasks.stats_of_tasks_mail')).toBe('3')
    expect(await names()).toEqual(['tasks.letter', 'tasks.sms'])
    expect(await refresh('tasks.letter')).toBe(true)
  })

  it('gets functions of its new name by the next register, with its settings, tasks and leases kept', async () => {
    await session.query("insert into tasks.mail (payload) values ('a'), ('b')")
    await session.query('select tasks.acquire_tasks_mail(1, gen_random_uuid())')
    await session.query('alter table tasks.mail rename to letter')
    await session.query("select tasks.register('tasks', 'letter')")
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_letter(1)')).toEqual([{ payload: 'b' }])
    expect(await scalarOf(session, "select count(*) from tasks.leases where table_id = 'tasks.letter'::regclass")).toBe(
      '1',
    )
    expect(await scalarOf(session, "select count(*) from pg_proc where proname like '%\\_tasks\\_mail'")).toBe('0')
  })

  it('keeps function names that were given to register', async () => {
    await session.query("select tasks.register('tasks', 'mail', function_name => 'post')")
    await session.query('alter table tasks.mail rename to letter')
    await session.query("select tasks.register('tasks', 'letter', function_name => 'post')")
    await session.query("insert into tasks.letter (payload) values ('a')")
    expect(await rowsOf(session, 'select payload from tasks.acquire_post(1)')).toEqual([{ payload: 'a' }])
  })

  it('never lends its functions to a table that takes its name', async () => {
    await session.query("insert into tasks.mail (payload) values ('old')")
    await session.query('alter table tasks.mail rename to letter')
    await session.query(
      "create table tasks.mail (like tasks.template including all, payload text); insert into tasks.mail (payload) values ('new')",
    )
    const id = await scalarOf(session, 'update tasks.mail set started_at = now() returning id')
    for (const call of [
      'acquire_tasks_mail(1)',
      `finish_tasks_mail(${id})`,
      `retry_tasks_mail(${id})`,
      `cancel_tasks_mail(${id})`,
      `reset_tasks_mail(${id})`,
      "clean_tasks_mail('0')",
    ]) {
      expect((await refusalOf(session.query(`select tasks.${call}`))).code, call).toBe('TQ004')
    }
    expect(await refusalOf(session.query("select tasks.register('tasks', 'mail')"))).toMatchObject({
      code: 'TQ007',
      message: expect.stringContaining('belongs to the task type tasks.letter'),
    })
    await session.query("select tasks.register('tasks', 'letter'); select tasks.register('tasks', 'mail')")
    await session.query('update tasks.mail set started_at = null')
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_mail(1)')).toEqual([{ payload: 'new' }])
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_letter(1)')).toEqual([{ payload: 'old' }])
  })

  it('can swap names with another', async () => {
    await session.query(
      "insert into tasks.mail (payload) values ('mail'); insert into tasks.sms (payload) values ('sms')",
    )
    await session.query(
      'alter table tasks.mail rename to letter; alter table tasks.sms rename to mail; alter table tasks.letter rename to sms',
    )
    await session.query("select tasks.refresh('tasks.mail'::regclass), tasks.refresh('tasks.sms'::regclass)")
    expect(await names()).toEqual(['tasks.mail', 'tasks.sms'])
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_mail(1)')).toEqual([{ payload: 'mail' }])
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_sms(1)')).toEqual([{ payload: 'sms' }])
  })
})

describe('a table that is dropped', () => {
  it('leaves the other types as they are, and a registry that mends itself at the next register', async () => {
    await session.query('insert into tasks.sms default values')
    await session.query('drop table tasks.mail cascade')
    expect(await rowsOf(session, 'select table_name, total from tasks.stats')).toEqual([
      { table_name: 'sms', total: '1' },
    ])
    expect(await rowsOf(session, 'select from tasks.acquire_tasks_sms(1)')).toHaveLength(1)
    await session.query("select tasks.register('tasks', 'sms', max_retries => 5)")
    expect(await names()).toEqual(['tasks.sms'])
    expect(await scalarOf(session, "select count(*) from pg_proc where proname like '%\\_tasks\\_mail'")).toBe('0')
  })

  it('can be unregistered by its name, and is refused by configure and refresh', async () => {
    const oid = await scalarOf(session, "select 'tasks.mail'::regclass::oid")
    await session.query('drop table tasks.mail cascade')
    expect((await refusalOf(session.query("select tasks.configure('tasks', 'mail', 'timeout', '1 s')"))).code).toBe(
      'TQ004',
    )
    expect(await scalarOf(session, 'select tasks.refresh($1)', [oid])).toBe(false)
    await session.query("select tasks.unregister('tasks', 'mail')")
    expect(await names()).toEqual(['tasks.sms'])
  })

  it.each(['refresh', 'refresh_all', 'register'])('leaves its name to another, which %s follows', async (way) => {
    await session.query("insert into tasks.sms (payload) values ('a')")
    await session.query('drop table tasks.mail cascade')
    await session.query('alter table tasks.sms rename to mail')
    await session.query(
      { refresh: "select tasks.refresh('tasks.mail'::regclass)", refresh_all: 'select tasks.refresh_all()' }[way] ??
        "select tasks.register('tasks', 'mail', function_name => 'tasks_sms')",
    )
    expect(await names()).toEqual(['tasks.mail'])
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_sms(1)')).toEqual([{ payload: 'a' }])
  })

  it('can be made anew under the same name', async () => {
    await session.query('drop table tasks.mail cascade')
    await createTaskType(session, 'mail', { columns: 'other integer' })
    await session.query('insert into tasks.mail (other) values (5)')
    expect(await rowsOf(session, 'select other from tasks.acquire_tasks_mail(1)')).toEqual([{ other: 5 }])
    expect(await names()).toEqual(['tasks.mail', 'tasks.sms'])
  })

  it('goes with its schema', async () => {
    await session.query(
      "create schema app; create table app.call (like tasks.template including all); select tasks.register('app', 'call')",
    )
    await session.query('drop schema app cascade')
    await session.query("select tasks.register('tasks', 'sms', max_retries => 6)")
    expect(await names()).toEqual(['tasks.mail', 'tasks.sms'])
  })

  it('fails the verbs that are left with the name of what is missing', async () => {
    await session.query('drop table tasks.mail cascade')
    expect(await refusalOf(session.query('select tasks.finish_tasks_mail(1)'))).toMatchObject({
      code: '42P01',
      message: 'relation "tasks.mail" does not exist',
    })
    expect((await refusalOf(session.query('select tasks.acquire_tasks_mail(1)'))).code).toBe('42883')
  })
})

it('a type that comes and goes leaves nothing behind', async () => {
  const objects = () =>
    rowsOf(
      session,
      `select 'function', proname::text from pg_proc where pronamespace = 'tasks'::regnamespace
      union all select 'relation', relname from pg_class where relnamespace = 'tasks'::regnamespace order by 1, 2`,
    )
  const before = await objects()
  await createTaskType(session, 'letter')
  await session.query(
    'insert into tasks.letter default values; select tasks.acquire_tasks_letter(1, gen_random_uuid())',
  )
  await session.query("select tasks.unregister('tasks', 'letter'); drop table tasks.letter")
  expect(await objects()).toEqual(before)
})
