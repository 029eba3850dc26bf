import { beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()

beforeEach(async () => {
  await moveClock(session, '0')
  await session.query('drop table if exists tasks.mail cascade')
  await createTaskType(session, 'mail', { columns: 'customer integer, amount numeric, "Odd ""one""" text' })
})

const insert = (customers: ReadonlyArray<number | null>) =>
  session.query("insert into tasks.mail (customer, planned_to) select c, '2020-01-01' from unnest($1::integer[]) c", [
    customers,
  ])
const acquire = async (most = 10) =>
  (await rowsOf<{ id: string }>(session, 'select id from tasks.acquire_tasks_mail($1)', [most])).map(({ id }) =>
    Number(id),
  )
const finish = (id: number) => session.query('select tasks.finish_tasks_mail($1)', [id])
const held = async () =>
  (await rowsOf<{ id: string }>(session, 'select id from tasks.mail where held order by id')).map(({ id }) =>
    Number(id),
  )
const triggers = () =>
  scalarOf(
    session,
    `select count(*)::int from pg_trigger where tgrelid = 'tasks.mail'::regclass and (tgname like 'pg_tasks_room%' or tgname = 'pg_tasks_unhold')`,
  )
const limitKeys = (...rest: string[]) => session.query(`select tasks.limit_keys('tasks', 'mail', ${rest.join(', ')})`)

describe('a paused type', () => {
  it('gives no task until it is resumed, and says nothing is due', async () => {
    await insert([1])
    await session.query(
      "select tasks.pause('tasks', 'mail', 'the bank is down'), tasks.pause('tasks', 'mail', 'again')",
    )
    expect(await acquire()).toEqual([])
    expect(await scalarOf(session, 'select ready_in from tasks.next_due_tasks_mail()')).toBeNull()
    expect(await scalarOf(session, "select paused_reason from tasks.types where table_name = 'mail'")).toBe(
      'the bank is down',
    )
    await session.query("select tasks.register('tasks', 'mail')")
    expect(await acquire()).toEqual([])
    await session.query("select tasks.resume('tasks', 'mail'), tasks.resume('tasks', 'mail')")
    expect(await scalarOf(session, 'select ready_in from tasks.next_due_tasks_mail()')).toBe(0)
    expect(await acquire()).toEqual([1])
  })
})

describe('a rate', () => {
  it('lets tasks start evenly, or several at once after a lull', async () => {
    await insert(Array(20).fill(null))
    await session.query("select tasks.limit_rate('tasks', 'mail', 60, '1 minute')")
    expect(await acquire()).toEqual([1])
    expect(await acquire()).toEqual([])
    expect(await scalarOf(session, 'select ready_in from tasks.next_due_tasks_mail()')).toBeGreaterThan(100)
    await moveClock(session, '2 s')
    expect(await acquire()).toEqual([2])
    await session.query("select tasks.limit_rate('tasks', 'mail', 60, '1 minute', 5)")
    await moveClock(session, '1 hour')
    expect(await acquire()).toHaveLength(5)
    await session.query("select tasks.limit_rate('tasks', 'mail', 60, '1 minute', 5)")
    expect(await acquire()).toEqual([])
    await session.query("select tasks.limit_rate('tasks', 'mail', null)")
    expect(await acquire()).toHaveLength(10)
  })
})

describe('a key', () => {
  it('lets its tasks through one after the other; NULL is no key', async () => {
    await limitKeys("'{customer}'")
    await insert([1, 1, null, 2, null, 1])
    expect(await acquire()).toEqual([1, 3, 4, 5])
    expect(await held()).toEqual([2, 6])
    await finish(1)
    expect(await acquire()).toEqual([2])
  })

  it('is the same for values that are equal and written otherwise', async () => {
    await limitKeys("'{amount}'")
    await session.query("insert into tasks.mail (amount, planned_to) values (1.0, '2020-01-01'), (1.00, '2020-01-01')")
    expect(await acquire()).toEqual([1])
    await finish(1)
    expect(await acquire()).toEqual([2])
  })

  it('may be of several columns, with any name', async () => {
    await limitKeys(`array['customer', 'Odd "one"']`)
    await session.query(
      `insert into tasks.mail (customer, "Odd ""one""", planned_to)
       select c, o, '2020-01-01' from (values (1, 'a'), (1, 'b'), (1, 'a'), (1, null)) v (c, o)`,
    )
    expect(await acquire()).toEqual([1, 2, 4])
    await finish(1)
    expect(await acquire()).toEqual([3])
  })

  it('is blocked by a task that waits for its retry, or that steps aside, as set', async () => {
    await limitKeys("'{customer}'")
    await insert([1, 1])
    await acquire()
    await session.query("select tasks.retry_tasks_mail(1, delay => '1 hour')")
    expect(await acquire()).toEqual([])
    await limitKeys("'{customer}'", '1', "'step_aside'")
    expect(await acquire()).toEqual([2])
    await session.query("select tasks.retry_tasks_mail(2, delay => '2 hours')")
    await moveClock(session, '90 minutes')
    expect(await acquire()).toEqual([1])
  })

  it.each([
    ['canceled', 'select tasks.cancel_tasks_mail(1)'],
    ['deleted', 'delete from tasks.mail where id = 1'],
    ['failed', "update tasks.mail set failed_at = now(), failure_reason = 'error' where id = 1"],
    ['given another key', 'update tasks.mail set customer = 2 where id = 1'],
    ['reset, and comes first again,', 'select tasks.reset_tasks_mail(1)'],
  ])('is free again when the task that waits for its retry is %s', async (_, change) => {
    await limitKeys("'{customer}'")
    await insert([1, 1])
    await acquire()
    await session.query("select tasks.retry_tasks_mail(1, delay => '1 hour')")
    expect(await acquire()).toEqual([])
    expect(await held()).toEqual([2])
    await session.query(change)
    expect(await scalarOf(session, 'select ready_in from tasks.next_due_tasks_mail()')).toBe(0)
    expect(await acquire()).toContain(2)
  })

  it('lets a held task go that gets another key, or none', async () => {
    await limitKeys("'{customer}'")
    await insert([1, 1, 1])
    expect(await acquire()).toEqual([1])
    await session.query('update tasks.mail set customer = 2 where id = 2')
    await session.query('update tasks.mail set customer = null where id = 3')
    expect(await acquire()).toEqual([2, 3])
  })

  it('follows the order of today: a held task that is made more urgent goes first', async () => {
    await limitKeys("'{customer}'")
    await insert([1, 1, 1])
    await acquire()
    await session.query('update tasks.mail set priority = 0 where id = 3')
    await finish(1)
    expect(await acquire()).toEqual([3])
  })

  it('is not kept by a held task that is put off', async () => {
    await limitKeys("'{customer}'")
    await insert([1, 1, 1])
    await session.query('update tasks.mail set priority = 0 where id < 3')
    expect(await acquire()).toEqual([1])
    expect(await held()).toEqual([2, 3])
    await session.query("update tasks.mail set planned_to = tasks.clock() + interval '1 hour' where id = 2")
    await finish(1)
    expect(await acquire()).toEqual([3])
    await finish(3)
    expect(await acquire()).toEqual([])
    await moveClock(session, '2 hours')
    expect(await acquire()).toEqual([2])
  })

  it('does not keep a held task that was canceled and is reset', async () => {
    await limitKeys("'{customer}'")
    await insert([1, 1])
    await acquire()
    await session.query('select tasks.cancel_tasks_mail(2)')
    await finish(1)
    await session.query('select tasks.reset_tasks_mail(2)')
    expect(await acquire()).toEqual([2])
  })

  it('lets nobody pass a task that somebody has locked', async () => {
    const other = await database.client()
    await limitKeys("'{customer}'")
    await insert([1, 1, 1])
    await other.query('begin')
    await other.query("update tasks.mail set comment = 'x' where id = 1")
    expect(await acquire()).toEqual([])
    await other.query('rollback')
    expect(await acquire()).toEqual([1])
    await other.query('begin')
    await other.query("update tasks.mail set comment = 'x' where id = 2")
    await finish(1)
    expect(await acquire()).toEqual([])
    await other.query('commit')
    expect(await acquire()).toEqual([2])
  })

  it('gets more room without waiting for an open transaction that has one of its tasks', async () => {
    const other = await database.client()
    await limitKeys("'{customer}'")
    await insert([1, 1, 1, 1])
    expect(await acquire()).toEqual([1])
    await other.query('begin')
    await other.query("update tasks.mail set comment = 'x' where id = 2")
    await session.query("set statement_timeout to '10 s'")
    await limitKeys("'{customer}'", '3')
    await session.query('reset statement_timeout')
    // Nobody passes the locked one.
    expect(await acquire()).toEqual([])
    await other.query('commit')
    expect(await acquire()).toEqual([2, 3])
  })

  it('is let go by unregister, and by a limit of NULL; the triggers and indexes go too', async () => {
    for (const release of ["tasks.unregister('tasks', 'mail')", "tasks.limit_keys('tasks', 'mail', null)"]) {
      await session.query("select tasks.register('tasks', 'mail')")
      await limitKeys("'{customer}'")
      await limitKeys("'{customer}'")
      await insert([1, 1])
      await acquire()
      expect(await held()).toHaveLength(1)
      expect(await triggers()).toBe(3)
      await session.query(`select ${release}`)
      expect(await held()).toEqual([])
      expect(await triggers()).toBe(0)
      await session.query('delete from tasks.mail')
    }
    expect(await scalarOf(session, "select count(*)::int from pg_indexes where indexname like 'pg_tasks_key%'")).toBe(0)
    expect(await scalarOf(session, 'select count(*)::int from tasks.freed_keys')).toBe(0)
  })

  it('is none where a column is null in JSON', async () => {
    await session.query('alter table tasks.mail add column place jsonb')
    await limitKeys("'{customer,place}'")
    await session.query(
      "insert into tasks.mail (customer, place) values (1, 'null'), (1, 'null'), (1, '[null]'), (1, '[null]')",
    )
    expect(await acquire()).toEqual([1, 2, 3])
    await finish(3)
    expect(await acquire()).toEqual([4])
  })

  it.each(['block', 'step_aside'])('strands nobody for long whom no trigger saw (%s)', async (onRetry) => {
    await limitKeys("'{customer}'", '1', `'${onRetry}'`)
    await insert([1])
    await acquire()
    await session.query("select tasks.retry_tasks_mail(1, delay => '1 hour')")
    expect(await acquire()).toEqual([])
    await session.query("set session_replication_role = 'replica'")
    await session.query('insert into tasks.mail (customer, held) values (1, true)')
    await session.query('reset session_replication_role')
    expect(await acquire()).toEqual([])
    await session.query('select * from tasks.maintain()')
    expect(await acquire()).toEqual(onRetry === 'block' ? [] : [2])
  })

  it('strands nobody for long whose predecessor no trigger saw', async () => {
    await limitKeys("'{customer}'")
    await insert([1, 1])
    await acquire()
    await session.query("set session_replication_role = 'replica'")
    await session.query('update tasks.mail set finished_at = now() where id = 1')
    await session.query('reset session_replication_role')
    expect(await acquire()).toEqual([])
    await session.query('select * from tasks.maintain()')
    expect(await acquire()).toEqual([2])
  })
})

it('a limited type is acquired in READ COMMITTED only; its tasks may be finished in any isolation', async () => {
  await session.query("select tasks.limit_concurrency('tasks', 'mail', 1)")
  await insert([1])
  await session.query('begin isolation level repeatable read')
  const refusal = await refusalOf(session.query('select tasks.acquire_tasks_mail(1)'))
  await session.query('rollback')
  expect(refusal.code).toBe('TQ003')
  expect(refusal.message).toContain('repeatable read')
})

it('settings stay as they are when the type is registered again', async () => {
  await session.query("select tasks.limit_concurrency('tasks', 'mail', 2), tasks.limit_concurrency('tasks', 'mail', 2)")
  await session.query("select tasks.register('tasks', 'mail', timeout => '5 minutes')")
  await insert([1, 2, 3])
  expect(await acquire()).toHaveLength(2)
  expect(await triggers()).toBe(2)
  await session.query("select tasks.limit_concurrency('tasks', 'mail', null)")
  expect(await triggers()).toBe(0)
  expect(await acquire()).toHaveLength(1)
})

it.each([
  ["limit_concurrency('tasks', 'mail', 0)", 'TQ003', /concurrency.*0/],
  ["limit_concurrency('tasks', 'nothing', 1)", 'TQ004', /nothing/],
  ["limit_rate('tasks', 'mail', 0)", 'TQ003', /rate must.*0/],
  ["limit_rate('tasks', 'mail', 1, '0')", 'TQ003', /per/],
  ["limit_rate('tasks', 'mail', 1, '-1 s')", 'TQ003', /per/],
  ["limit_rate('tasks', 'mail', 1, null)", 'TQ003', /per/],
  ["limit_rate('tasks', 'mail', 1, '1 s', 0)", 'TQ003', /burst/],
  ["limit_keys('tasks', 'mail', '{}')", 'TQ003', /columns/],
  ["limit_keys('tasks', 'mail', '{nothing}')", 'TQ003', /columns.*nothing/],
  ["limit_keys('tasks', 'mail', '{customer,customer}')", 'TQ003', /columns/],
  ["limit_keys('tasks', 'mail', array[null])", 'TQ003', /columns/],
  ["limit_keys('tasks', 'mail', '{held}')", 'TQ003', /held/],
  ["limit_keys('tasks', 'mail', '{customer}', 0)", 'TQ003', /concurrency/],
  ["limit_keys('tasks', 'mail', '{customer}', 1, 'jump')", 'TQ003', /on_retry.*jump/],
  ['pause(null, null)', 'TQ004', /pause.*NULL/],
  ["resume('tasks', 'nothing')", 'TQ004', /nothing/],
])('refuses %s', async (call, code, message) => {
  const refusal = await refusalOf(session.query(`select tasks.${call}`))
  expect(refusal.code).toBe(code)
  expect(refusal.message).toMatch(message)
})
