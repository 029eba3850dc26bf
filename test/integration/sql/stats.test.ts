import { afterEach, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { STATES, taskInState } from './task-in-state.js'

const database = await createDatabase()
const session = await database.client()
const columns = ['total', 'scheduled', 'ready', 'running', 'finished', 'failed', 'canceled']

// O-42
it('has its columns and no rows while there are no types', async () => {
  const { fields, rows } = await session.query('select * from tasks.stats')
  expect(fields.map((field) => field.name)).toEqual(['schema_name', 'table_name', ...columns])
  expect(rows).toEqual([])
})

afterEach(() => moveClock(session, '0'))

it('counts every task in one of six states that add up to the total (O-40)', async () => {
  await createTaskType(session, 'mail', { settings: "max_retries => 1000, timeout => '10 s'" })
  for (const state of STATES) {
    for (let count = 0; count <= STATES.indexOf(state); count += 1) await taskInState(session, 'mail', state)
    if (state === 'ready') await session.query("update tasks.mail set planned_to = 'infinity' where started_at is null")
  }
  await session.query(
    "update tasks.mail set planned_to = now() where id in (select id from tasks.mail where planned_to = 'infinity' order by id desc limit 2)",
  )
  const counts = { total: '21', scheduled: '1', ready: '2', running: '3', finished: '4', failed: '5', canceled: '6' }
  expect(await rowsOf(session, 'select * from tasks.stats')).toEqual([
    { schema_name: 'tasks', table_name: 'mail', ...counts },
  ])
  expect(await rowsOf(session, 'select * from tasks.stats_of_tasks_mail')).toEqual([counts])
})

it('counts any combination of columns once', async () => {
  await createTaskType(session, 'odd')
  await session.query(`
    insert into tasks.odd (planned_to, started_at, finished_at, failed_at, canceled)
    select p, s, f, x, c
    from unnest('{-infinity,2020-01-01,infinity}'::timestamptz[]) p, unnest('{2020-01-01,null}'::timestamptz[]) s,
      unnest('{2020-01-01,null}'::timestamptz[]) f, unnest('{2020-01-01,null}'::timestamptz[]) x, unnest('{t,f}'::boolean[]) c`)
  const [counts] = await rowsOf(
    session,
    'select *, scheduled + ready + running + finished + failed + canceled as sum from tasks.stats_of_tasks_odd',
  )
  expect(counts).toEqual({
    total: '48',
    sum: '48',
    finished: '24',
    canceled: '12',
    failed: '6',
    running: '3',
    ready: '2',
    scheduled: '1',
  })
})

it('follows the clock from scheduled to ready, and shows used-up and lost tasks', async () => {
  await createTaskType(session, 'clocked', { settings: "max_retries => 0, timeout => '10 s'" })
  await session.query("insert into tasks.clocked (planned_to) values (clock_timestamp() + interval '1 hour')")
  const counts = async () =>
    (await rowsOf(session, 'select scheduled, ready, running, failed from tasks.stats_of_tasks_clocked'))[0]
  expect(await counts()).toEqual({ scheduled: '1', ready: '0', running: '0', failed: '0' })
  await moveClock(session, '2 hours')
  expect(await counts()).toEqual({ scheduled: '0', ready: '1', running: '0', failed: '0' })
  await session.query('select tasks.acquire_tasks_clocked(1)')
  expect(await counts()).toEqual({ scheduled: '0', ready: '0', running: '1', failed: '0' })
  await moveClock(session, '3 hours')
  await session.query('select tasks.rescue_tasks_clocked()')
  // O-17
  expect(await counts()).toEqual({ scheduled: '0', ready: '0', running: '0', failed: '1' })
})

// O-41
it('can carry views of the user`s, which no register and no unregister touches', async () => {
  await session.query(
    'create view board as select * from tasks.stats; create view mails as select total from tasks.stats_of_tasks_mail',
  )
  await createTaskType(session, 'more')
  await session.query("select tasks.register('tasks', 'mail', max_retries => 5, timeout => '5 s')")
  await session.query("select tasks.unregister('tasks', 'more')")
  expect(await scalarOf(session, "select total from board where table_name = 'mail'")).toBe('21')
  expect(await scalarOf(session, 'select total from mails')).toBe('21')
  await session.query("select tasks.unregister('tasks', 'mail')")
  expect(await scalarOf(session, 'select total from mails')).toBe('21')
  expect(await rowsOf(session, "select from board where table_name = 'mail'")).toEqual([])
  await session.query("select tasks.register('tasks', 'mail')")
  expect(await scalarOf(session, "select total from board where table_name = 'mail'")).toBe('21')
})

// O-43
it('passes by a table that is gone', async () => {
  await createTaskType(session, 'gone')
  await session.query('drop table tasks.gone cascade')
  expect((await rowsOf(session, 'select table_name from tasks.stats')).map((row) => row.table_name)).not.toContain(
    'gone',
  )
})

it('passes by a table that has lost a column of the template, and counts the others', async () => {
  await createTaskType(session, 'spoilt')
  await createTaskType(session, 'whole')
  await session.query('alter table tasks.spoilt drop column failed_at cascade')
  const tables = (await rowsOf(session, 'select table_name from tasks.stats')).map((row) => row.table_name)
  expect(tables).toContain('whole')
  expect(tables).not.toContain('spoilt')
  await session.query('drop table tasks.spoilt cascade')
})
