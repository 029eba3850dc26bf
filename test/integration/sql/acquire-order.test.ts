import { afterEach, beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { rowsOf, scalarOf } from './rows-of.js'

const database = await createDatabase()
const session = await database.client()

beforeAll(() =>
  createTaskType(session, 'mail', { columns: 'place integer', settings: "timeout => '10 s', max_retries => 3" }),
)

afterEach(async () => {
  await moveClock(session, '0')
  await session.query('truncate tasks.mail')
})

const placesOf = async (count: number) =>
  (await rowsOf(session, 'select place from tasks.acquire_tasks_mail($1)', [count])).map((row) => row.place)

it('takes by priority, then by planned_to, then by id, and returns in that order', async () => {
  await session.query(`
    insert into tasks.mail (priority, planned_to, place)
    select p, '2020-01-01'::timestamptz + t * interval '1 day', row_number() over (order by p, t, i)
    from generate_series(0, 3) p, generate_series(1, 5) t, generate_series(1, 3) i
    order by i, md5(format('%s %s', p, t))`)
  // Ids were given in the order of insertion: i is the outermost there, so they agree with i within each p and t.
  const places: number[] = []
  for (const count of [1, 20, 7, 32, 10]) places.push(...(await placesOf(count)))
  expect(places).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
})

// B-20
it('runs the tasks of one transaction in the order of their insertion', async () => {
  await session.query('begin')
  for (let place = 1; place <= 10; place += 1)
    await session.query('insert into tasks.mail (place) values ($1)', [place])
  await session.query('commit')
  for (let place = 1; place <= 10; place += 1) expect(await placesOf(1)).toEqual([place])
})

// O-15
it('takes the oldest due first, not the newest', async () => {
  await session.query(
    "insert into tasks.mail (place, planned_to, created_at) values (2, '2021-01-01', '2020-01-01'), (1, '2020-01-01', '2021-01-01')",
  )
  expect(await placesOf(1)).toEqual([1])
})

it('never takes more than it was asked for, and none that is not due', async () => {
  await session.query(
    "insert into tasks.mail (place, planned_to) select g, now() - interval '1 s' from generate_series(1, 30) g",
  )
  await session.query(
    "insert into tasks.mail (place, planned_to) select 0, now() + interval '1 hour' from generate_series(1, 30) g",
  )
  expect(await placesOf(7)).toHaveLength(7)
  expect(await scalarOf(session, 'select count(started_at) from tasks.mail')).toBe('7')
  expect(await placesOf(10_000)).toHaveLength(23)
  expect(await placesOf(10_000)).toEqual([])
  await moveClock(session, '2 hours')
  await session.query('update tasks.mail set canceled = true where started_at is not null')
  expect(await placesOf(10_000)).toHaveLength(30)
})

it('counts the execution and gives token, start and the end of the lease', async () => {
  await session.query("insert into tasks.mail (planned_to) values ('2020-01-01')")
  const rows = await rowsOf(
    session,
    `select id, execution_count, run_worker, run_token is not null as token, run_until - started_at = interval '10 s' as lease,
       clock_timestamp() - started_at < interval '5 s' as now, planned_to = '2020-01-01' as planned
     from tasks.acquire_tasks_mail(1)`,
  )
  expect(rows).toMatchObject([
    { execution_count: 1, run_worker: null, token: true, lease: true, now: true, planned: true },
  ])
  expect(await scalarOf(session, 'select execution_count from tasks.mail')).toBe(1)
})

it('gives a task without a timeout no end', async () => {
  await session.query("select tasks.configure('tasks', 'mail', 'timeout', null)")
  await session.query('insert into tasks.mail default values')
  expect(await scalarOf(session, 'select run_until from tasks.acquire_tasks_mail(1)')).toBeNull()
  await moveClock(session, '10 years')
  // O-28
  expect(await placesOf(1)).toEqual([])
  await session.query("select tasks.configure('tasks', 'mail', 'timeout', '10 s')")
})

it('takes what waits behind a row that somebody else holds', async () => {
  await session.query('insert into tasks.mail (place) values (1), (2), (3)')
  const other = await database.client()
  await other.query('begin')
  await other.query('select from tasks.mail where place = 2 for update')
  expect(await placesOf(10)).toEqual([1, 3])
  await other.query('rollback')
  expect(await placesOf(10)).toEqual([2])
})

it('is not in the way of a foreign key to the task', async () => {
  await session.query('create table letter (task_id bigint references tasks.mail)')
  await session.query('insert into tasks.mail (id, place) values (77, 1)')
  const other = await database.client()
  await other.query('begin')
  await other.query('insert into letter values (77)')
  expect(await placesOf(1)).toEqual([1])
  await other.query('commit')
  await session.query('drop table letter')
})

it('returns rows of the table as it is today, also in a session that acquired before a column came or went', async () => {
  const columns = async () => {
    const { fields, rows } = await session.query('select * from tasks.acquire_tasks_mail(1)')
    expect(rows).toHaveLength(1)
    return fields.map((field) => field.name)
  }
  await session.query('insert into tasks.mail (place) values (1), (2), (3)')
  expect(await columns()).not.toContain('extra')
  await session.query('alter table tasks.mail add column extra integer default 7')
  expect(await columns()).toContain('extra')
  await session.query('alter table tasks.mail drop column extra')
  expect(await columns()).not.toContain('extra')
})
