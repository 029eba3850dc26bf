import type { Client } from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const { pool } = database

let maintaining: Client
let other: Client

/** A call that has deleted rows of every kind, and is not committed. */
beforeAll(async () => {
  await createTaskType(pool, 'mail', { settings: `storage_time => '1 day'` })
  await createTaskType(pool, 'gone')
  await pool.query(
    `insert into tasks.mail (started_at, finished_at, failed_at, canceled)
     select now() - interval '2 days', case when n % 3 = 0 then now() - interval '2 days' end,
       case when n % 3 = 1 then now() - interval '2 days' end, n % 3 = 2
     from generate_series(1, 3000) n`,
  )
  await pool.query(`update tasks.mail set canceled_at = now() - interval '2 days' where canceled`)
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt) values ('tasks.gone'::regclass, 1, 's', now(), 1)`,
  )
  await pool.query(
    `insert into tasks.occurrences (schedule_key, occurrence_at, trigger, revision, outcome, table_id, created_at)
     values ('k', now(), 'schedule', 1, 'enqueued', 'tasks.mail'::regclass, now() - interval '1 year')`,
  )
  await pool.query(
    `insert into tasks.leases values (gen_random_uuid(), 'tasks.mail'::regclass, now() - interval '1 day')`,
  )
  await pool.query('drop table tasks.gone cascade')
  maintaining = await database.client()
  other = await database.client()
  await maintaining.query('begin')
  const maintained = await rowsOf(maintaining, 'select what, deleted::int from tasks.maintain()')
  expect(maintained).toEqual([
    { what: 'tasks.mail', deleted: 3_000 },
    { what: 'tasks.occurrences', deleted: 1 },
    { what: 'tasks.marks', deleted: 1 },
    { what: 'tasks.leases', deleted: 1 },
  ])
  await other.query(`set lock_timeout = '1ms'`)
})

it.each<[string, string, unknown?]>([
  ['enqueueing', 'insert into tasks.mail (payload) select null from generate_series(1, 3)'],
  ['an acquire without a worker', 'select id from tasks.acquire_tasks_mail(1)'],
  ['an acquire of a worker', `select id from tasks.acquire_tasks_mail(1, '${crypto.randomUUID()}')`],
  [
    'an acquire of a worker that was here before',
    `select id from tasks.acquire_tasks_mail(1, '00000000-0000-4000-8000-000000000001')`,
  ],
  ['a heartbeat', `select * from tasks.heartbeat_tasks_mail('00000000-0000-4000-8000-000000000001', '{}', '{}')`],
  [
    'a finish',
    'select tasks.finish_tasks_mail((select id from tasks.mail where started_at is not null and run_token is not null limit 1))',
  ],
  ['a rescue', 'select tasks.rescue_tasks_mail()'],
  ['a clean', 'select tasks.clean_tasks_mail()'],
  ['a look at what is due', 'select * from tasks.next_due_tasks_mail()'],
  ['another call', 'select * from tasks.maintain()'],
  ['a list of failed tasks', `select * from tasks.failed_tasks('tasks.mail')`],
  ['a reset of failed tasks', `select tasks.reset_failed('tasks.mail')`],
  [
    'a trigger of a schedule',
    `insert into tasks.occurrences select 'l', now(), 'manual', 1, 'enqueued', 'tasks.mail'::regclass`,
  ],
])('never waits for maintenance that is under way: %s', async (_, statement) => {
  await other.query(statement)
})

it('has taken nothing from the tasks that were enqueued and acquired meanwhile', async () => {
  await maintaining.query('commit')
  expect(await scalarOf(pool, 'select count(*)::int from tasks.mail')).toBe(3)
})
