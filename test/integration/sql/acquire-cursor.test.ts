import { afterEach, beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { rowsOf, scalarOf } from './rows-of.js'

// A worker's session steps over what its last acquire has walked; a sweep, at most a twentieth of the time, looks behind.
const database = await createDatabase()
const session = await database.client()
const worker = '55555555-5555-4555-8555-555555555555'

beforeAll(async () => {
  await createTaskType(session, 'mail', {
    columns: 'place integer',
    settings: "timeout => '10 s', max_retries => 1000",
  })
  // A cursor is kept where an acquire took more than 0.2 ms.
  await session.query(`
    create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(0.0003); return new; end';
    create trigger linger before update on tasks.mail for each row execute function linger();
  `)
})

afterEach(async () => {
  await moveClock(session, '0')
  await session.query('truncate tasks.mail')
  await session.query('reset all')
})

const acquire = async (count: number) =>
  (await rowsOf(session, 'select place from tasks.acquire_tasks_mail($1, $2)', [count, worker])).map((row) => row.place)

const setting = "'pg_tasks.cursor_' || 'tasks.mail'::regclass::oid"

/** Rewrites the cursor so that the next sweep is allowed an hour from now, or at once. */
async function allowSweep(when: 'in an hour' | 'now'): Promise<void> {
  const parts = String(await scalarOf(session, `select current_setting(${setting})`)).split(' ')
  parts[1] = String(Date.now() / 1000 + (when === 'now' ? -1 : 3600))
  await session.query(`select set_config(${setting}, $1, false)`, [parts.join(' ')])
}

it('keeps no cursor of short walks', async () => {
  await session.query('alter table tasks.mail disable trigger linger')
  await session.query(
    "insert into tasks.mail (place, planned_to) select g, '2020-01-01' from generate_series(1, 300) g",
  )
  const cursor = () => scalarOf(session, `select current_setting(${setting}, true)`)
  let kept = 0
  for (let place = 1; place <= 300; place += 1) {
    const before = await cursor()
    expect(await acquire(1)).toEqual([place])
    if ((await cursor()) !== before) kept += 1
  }
  await session.query('alter table tasks.mail enable trigger linger')
  expect(kept).toBeLessThan(300)
})

it('goes on behind the last task, with every priority at its own place', async () => {
  await session.query(
    "insert into tasks.mail (place, priority, planned_to) select g, 3 - g / 10, '2020-01-01' from generate_series(0, 39) g",
  )
  const places: number[] = []
  for (;;) {
    const taken = await acquire(3)
    if (taken.length === 0) break
    places.push(...taken)
    await allowSweep('in an hour')
  }
  expect(places.map((place) => 3 - Math.floor(place / 10))).toEqual(places.map((_, index) => Math.floor(index / 10)))
  expect(new Set(places).size).toBe(40)
})

it('finds what is planned within the last second without a sweep', async () => {
  await session.query('insert into tasks.mail (place) values (1)')
  expect(await acquire(10)).toEqual([1])
  await allowSweep('in an hour')
  await session.query(
    "insert into tasks.mail (place, planned_to) values (2, clock_timestamp() - interval '500 ms'), (3, clock_timestamp())",
  )
  expect(await acquire(10)).toEqual([2, 3])
})

it('leaves what is older to the next sweep, and says when that may be', async () => {
  await session.query('insert into tasks.mail (place) values (1)')
  await acquire(10)
  await allowSweep('in an hour')
  await session.query("insert into tasks.mail (place, planned_to) values (2, '2020-01-01')")
  expect(await acquire(10)).toEqual([])
  const due = () => rowsOf(session, 'select ready_in, sweep_in from tasks.next_due_tasks_mail($1)', [worker])
  const [waiting] = await due()
  expect(waiting?.ready_in).toBeNull()
  expect(waiting?.sweep_in).toBeGreaterThan(3_500_000)
  expect(waiting?.sweep_in).toBeLessThanOrEqual(3_600_000)
  await allowSweep('now')
  expect(await due()).toEqual([{ ready_in: 0, sweep_in: null }])
  expect(await acquire(10)).toEqual([2])
})

it('never keeps a caller without a worker, or another session, from seeing all', async () => {
  await session.query('insert into tasks.mail (place) values (1)')
  await acquire(10)
  await allowSweep('in an hour')
  await session.query("insert into tasks.mail (place, planned_to) values (2, '2020-01-01'), (3, '2020-01-01')")
  expect(await rowsOf(session, 'select place from tasks.acquire_tasks_mail(1)')).toEqual([{ place: 2 }])
  const [idle] = await rowsOf(session, 'select ready_in, sweep_in from tasks.next_due_tasks_mail()')
  expect(idle).toEqual({ ready_in: 0, sweep_in: null })
  const other = await database.client()
  expect(await rowsOf(other, 'select place from tasks.acquire_tasks_mail(10, $1)', [worker])).toEqual([{ place: 3 }])
})

// The bound that is documented: the larger of one second and twenty sweeps; both are milliseconds here, but for the second.
it.each([
  ['was committed late', undefined],
  ['was released', 'select tasks.release_tasks_mail(id, run_token) from tasks.mail where place = 2'],
  ['was re-planned', "update tasks.mail set planned_to = '2020-01-01' where place = 2"],
  [
    'was reset to a past time',
    "update tasks.mail set started_at = null, run_worker = null, planned_to = '2020-01-01' where place = 2",
  ],
])('finds within the bound a task that %s behind the cursor', async (_, change) => {
  const late = await database.client()
  await session.query("insert into tasks.mail (place, planned_to) select 1, '2021-01-01' from generate_series(1, 50)")
  if (change === undefined) {
    await late.query('begin')
    await late.query("insert into tasks.mail (place, planned_to) values (2, '2020-01-01')")
  } else if (change.startsWith('update tasks.mail set planned_to')) {
    await session.query("insert into tasks.mail (place, planned_to) values (2, now() + interval '1 day')")
  } else {
    await session.query("insert into tasks.mail (place, planned_to) values (2, '2020-01-01')")
    expect(await acquire(1)).toEqual([2])
  }
  expect(await acquire(10)).toHaveLength(10)
  await late.query(change ?? 'commit')
  const began = performance.now()
  await waitFor(async () => (await acquire(1))[0] === 2 || undefined, {
    timeoutMs: 2_000,
    what: 'the task behind the cursor',
  })
  expect(performance.now() - began).toBeLessThan(2_000)
})

it('finds a rescued task within the bound', async () => {
  await session.query("insert into tasks.mail (place, planned_to) values (1, '2020-01-01')")
  await session.query('select tasks.acquire_tasks_mail(1)')
  await moveClock(session, '1 minute')
  await session.query("insert into tasks.mail (place, planned_to) select 2, '2021-01-01' from generate_series(1, 50)")
  expect(await acquire(5)).toHaveLength(5)
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('1')
  await waitFor(async () => (await acquire(1))[0] === 1 || undefined, { timeoutMs: 2_000, what: 'the rescued task' })
})

it('forgets its cursor when the clock has been set back', async () => {
  await session.query('insert into tasks.mail (place) values (1)')
  await acquire(10)
  // As if the last acquire had been in an hour, and the next sweep allowed in two.
  const parts = String(await scalarOf(session, `select current_setting(${setting})`)).split(' ')
  const ahead = (seconds: number) => String(Date.now() / 1000 + seconds)
  for (let part = 0; part < parts.length; part += 1)
    if (part < 2 || part % 2 === 0) parts[part] = ahead(part === 1 ? 7_200 : 3_600)
  await session.query(`select set_config(${setting}, $1, false)`, [parts.join(' ')])
  await session.query("insert into tasks.mail (place, planned_to) values (2, '2020-01-01')")
  expect(await acquire(10)).toEqual([2])
})

it('keeps every cursor at least a second behind a tasks.clock() that went back', async () => {
  await moveClock(session, '1 hour')
  await session.query('insert into tasks.mail (place) values (1)')
  await acquire(10)
  await allowSweep('in an hour')
  await moveClock(session, '0')
  await session.query('insert into tasks.mail (place, planned_to) values (2, clock_timestamp())')
  expect(await acquire(10)).toEqual([2])
})

it('takes the cursor back with the transaction that moved it', async () => {
  await session.query("insert into tasks.mail (place, planned_to) select g, '2020-01-01' from generate_series(1, 3) g")
  expect(await acquire(1)).toEqual([1])
  await allowSweep('in an hour')
  await session.query('begin')
  expect(await acquire(1)).toEqual([2])
  await session.query('rollback')
  expect(await acquire(1)).toEqual([2])
})

it('survives any extra_float_digits, DateStyle, IntervalStyle and TimeZone of the session', async () => {
  await session.query(
    "set extra_float_digits = -15; set datestyle = 'German'; set intervalstyle = 'sql_standard'; set timezone = 'Asia/Kathmandu'",
  )
  await session.query(
    "insert into tasks.mail (place, planned_to) select g, clock_timestamp() - interval '1 hour' + g * interval '1 us' from generate_series(1, 100) g",
  )
  for (let place = 1; place <= 100; place += 1) {
    expect(await acquire(1)).toEqual([place])
    await allowSweep('in an hour')
  }
})
