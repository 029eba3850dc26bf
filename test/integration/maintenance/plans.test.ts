import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { type NestedPlan, PlanWatcher } from '../plans/nested-plans.js'
import { createTaskType } from '../sql/create-task-type.js'

const database = await createDatabase()
const { pool } = database

let watcher: PlanWatcher

/** 100,000 ended tasks of which 100 are past their time, as many occurrences and marks; planned first while all was empty. */
beforeAll(async () => {
  await createTaskType(pool, 'mail', { settings: `storage_time => '1 day'` })
  await createTaskType(pool, 'held', { settings: `storage_time => '1 day'` })
  await pool.query('create table public.audit (task_id bigint primary key references tasks.held)')
  watcher = await PlanWatcher.start(await database.client())
  for (let call = 0; call < 10; call += 1) await watcher.client.query('select * from tasks.maintain(50)')
  for (const table of ['mail', 'held']) {
    await pool.query(
      `insert into tasks.${table} (started_at, finished_at, failed_at, canceled, canceled_at)
       select at, case when n % 4 < 2 then at end, case when n % 4 = 2 then at end, n % 4 = 3, case when n % 4 = 3 then at end
       from generate_series(1, 100000) n
       cross join lateral (select now() - case when n % 1000 < 4 then interval '2 days' else interval '1 hour' end + n * interval '1 ms' as at) t`,
    )
    await pool.query(`vacuum analyze tasks.${table}`)
  }
  await pool.query('insert into public.audit select id from tasks.held where finished_at < now() - $$1 day$$::interval')
  await pool.query(
    `insert into tasks.occurrences (schedule_key, occurrence_at, trigger, revision, outcome, table_id, created_at)
     select 'k', now() + n * interval '1 s', 'schedule', 1, 'enqueued', 'tasks.mail'::regclass,
       now() - case when n % 1000 = 0 then interval '8 days' else interval '1 hour' end
     from generate_series(1, 100000) n`,
  )
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt)
     select case when id > 99950 then 999999 else 'tasks.mail'::regclass end, id, 's', created_at, 1 from tasks.mail`,
  )
  await pool.query('vacuum analyze tasks.occurrences, tasks.marks, public.audit')
}, 60_000)

/** Reads of large tables that are not by an index. */
function walks(plans: readonly NestedPlan[]): string[] {
  const large = ['mail', 'held', 'occurrences', 'marks', 'audit']
  // PostgreSQL's own checks of foreign keys are none of ours.
  const ours = plans.filter(({ text }) => !text.startsWith('SELECT 1 FROM ONLY'))
  return ours.flatMap(({ scans, text }) =>
    scans
      .filter(
        ({ type, relation }) => large.includes(relation) && !type.startsWith('Index') && !type.startsWith('Bitmap'),
      )
      .map(({ type, relation }) => `${type} on ${relation}: ${text}`),
  )
}

it('finds what is past its time by indexes, among 100,000 of each, and what foreign keys hold too', async () => {
  const plans = await watcher.plansOf('select * from tasks.maintain(10000)')
  expect(walks(plans)).toEqual([])
  const { rows } = await pool.query(
    `select (select count(*)::int from tasks.mail) as mail, (select count(*)::int from tasks.held) as held,
       (select count(*)::int from tasks.occurrences) as occurrences, (select count(*)::int from tasks.marks) as marks`,
  )
  // Of the held type, the finished ones are held; with the others' rows went their marks.
  expect(rows[0]).toEqual({ mail: 99_600, held: 99_800, occurrences: 99_900, marks: 99_551 })
})

it('costs little where there is nothing to delete', async () => {
  await pool.query(
    'delete from tasks.held where finished_at is null and (failed_at < now() - $$1 day$$::interval or canceled_at < now() - $$1 day$$::interval)',
  )
  await pool.query('truncate public.audit')
  await pool.query('vacuum tasks.mail, tasks.held, tasks.occurrences, tasks.marks')
  await watcher.client.query('select * from tasks.maintain()')
  const plans = await watcher.plansOf('select * from tasks.maintain()')
  expect(walks(plans)).toEqual([])
  expect(plans.at(-1)?.buffers).toBeLessThan(2_000)
})

it('lists and counts failed tasks by their index', async () => {
  const listed = await watcher.plansOf(`select * from tasks.failed_tasks('tasks.mail', 10)`)
  expect(walks(listed)).toEqual([])
  expect(listed.at(-1)?.buffers).toBeLessThan(100)
  const paged = await watcher.plansOf(
    `select * from tasks.failed_tasks('tasks.mail', 10, now() - interval '90 minutes', 50000)`,
  )
  expect(walks(paged)).toEqual([])
  expect(paged.at(-1)?.buffers).toBeLessThan(200)
})
