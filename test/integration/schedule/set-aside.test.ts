import { resumeSchedule } from '@pg-tasks/client'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { waitFor } from '../../support/wait-for.js'
import { scalarOf } from '../sql/rows-of.js'
import { startWorker } from '../worker/start-worker.js'
import { Scheduling } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

/** One schedule of a table with a fault among four others, all due at the same instant. */
beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T09:59:30Z')
  await scheduling.pool.query('create table known (id bigint primary key)')
  await createTaskType(scheduling.pool, 'faulty', { columns: 'amount bigint not null' })
  await scheduling.pool.query(
    `select tasks.schedule('s3', 'tasks', 'faulty', every => '1 min', anchor => '2027-01-01 00:00+00', catch_up => 'all', columns => '{"amount": 5}')`,
  )
  for (const key of ['s1', 's2', 's4', 's5']) await scheduling.schedule({ key, cron: '* * * * *', catchUp: 'all' })
})

afterEach(async () => {
  await scheduling.pool.query('drop table if exists tasks.faulty cascade; drop table known')
})

const otherFour = [1, 2, 4, 5].map((n) => ({ key: `s${n}`, enqueued: 1, dropped: 0 }))

async function faultyTasks(): Promise<string[]> {
  const { rows } = await scheduling.pool.query<{ at: string }>(
    `select to_char(occurrence_at at time zone 'UTC', 'HH24:MI') as at from tasks.faulty order by occurrence_at`,
  )
  return rows.map(({ at }) => at)
}

// Case 23, and the same for what only shows when the task is inserted.
describe('a schedule that can not be handled is set aside while all others of the pass fire', () => {
  it.each([
    {
      name: 'a time zone written by hand',
      fault: `update tasks.schedules set cron = '* * * * *', every = null, timezone = 'Mars/Olympus' where key = 's3'`,
      mend: `update tasks.schedules set timezone = 'UTC' where key = 's3'`,
      error: 'this process knows no such zone',
    },
    {
      name: 'a CHECK',
      fault: `alter table tasks.faulty add constraint small check (amount < 5)`,
      mend: `alter table tasks.faulty drop constraint small`,
      error: 'violates check constraint "small"',
    },
    {
      name: 'a foreign key',
      fault: `alter table tasks.faulty add constraint reference foreign key (amount) references known`,
      mend: `insert into known values (5)`,
      error: 'violates foreign key constraint "reference"',
    },
    {
      name: 'a foreign key that is looked at when the transaction commits',
      fault: `alter table tasks.faulty add constraint reference foreign key (amount) references known deferrable initially deferred`,
      mend: `insert into known values (5)`,
      error: 'violates foreign key constraint "reference"',
    },
    {
      name: 'a dropped column',
      fault: `alter table tasks.faulty drop amount cascade`,
      mend: `alter table tasks.faulty add amount bigint`,
      error: 'tasks.faulty has no column amount',
    },
    {
      name: 'a column that was added and must be given',
      fault: `alter table tasks.faulty add size integer not null`,
      mend: `alter table tasks.faulty alter size drop not null`,
      error: 'null value in column "size"',
    },
    {
      name: 'a column of another type',
      fault: `alter table tasks.faulty alter amount type date using null`,
      mend: `alter table tasks.faulty alter amount type bigint using 1`,
      error: 'invalid input syntax for type date',
    },
    {
      name: 'a table that is no task type any more',
      fault: `select tasks.unregister('tasks', 'faulty')`,
      mend: `select tasks.register('tasks', 'faulty')`,
      error: 'schedule: tasks.faulty is not registered',
    },
    {
      name: 'a trigger that raises',
      fault: `create or replace function object() returns trigger language plpgsql as $$ begin raise exception 'I object'; end $$;
        create trigger object before insert on tasks.faulty for each row execute function object()`,
      mend: 'drop trigger object on tasks.faulty',
      error: 'I object',
    },
  ])('$name', async ({ fault, mend, error }) => {
    await scheduling.pool.query(fault)
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const { fired, refused, failed } = await scheduling.pass()
    expect(fired.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toEqual(otherFour)
    expect({ refused, failed }).toEqual({ refused: [{ key: 's3', error: expect.stringContaining(error) }], failed: [] })
    expect(await scheduling.row('s3')).toMatchObject({
      state: 'paused',
      last_error: expect.stringContaining(error),
      runs: '0',
    })
    expect(await faultyTasks()).toEqual([])

    // While it is set aside the others go on; mended and resumed with catchUp, nothing is lost.
    await scheduling.passAt('2027-01-01T10:01:00Z')
    expect(await scheduling.enqueued('s1')).toHaveLength(2)
    await scheduling.pool.query(mend)
    await resumeSchedule(scheduling.pool, 's3', { catchUp: true })
    await scheduling.passAt('2027-01-01T10:02:00Z')
    expect(await faultyTasks()).toEqual(['10:00', '10:01', '10:02'])
    expect(await scheduling.row('s3')).toMatchObject({ state: 'active', last_error: null, paused_at: null, runs: '3' })
  })

  it('a dropped table', async () => {
    await scheduling.pool.query('drop table tasks.faulty cascade')
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const { fired, refused } = await scheduling.pass()
    expect(fired).toHaveLength(4)
    expect(refused).toEqual([{ key: 's3', error: 'schedule: the task table is gone' }])
    expect(await scalarOf(scheduling.pool, `select table_name from tasks.schedule_stats where key = 's3'`)).toBeNull()
  })

  it('and a worker tells: in the event, in the log', async () => {
    await scheduling.pool.query('alter table tasks.faulty add constraint small check (amount < 5)')
    const { worker, lines } = await startWorker({ connectionString: scheduling.database.url })
    const told: Array<{ key: string; error: string }> = []
    worker.on('schedule_refused', (schedule) => told.push(schedule))
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    await scheduling.wake()
    await waitFor(async () => (await scheduling.enqueued()).length === 4 && told.length > 0)
    expect(told).toEqual([{ key: 's3', error: expect.stringContaining('"small"') }])
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'A schedule was refused', fields: { key: 's3' } },
    ])
  })
})

describe('a schedule that was set aside', () => {
  beforeEach(async () => {
    await scheduling.pool.query('alter table tasks.faulty add constraint small check (amount < 5)')
    await scheduling.passAt('2027-01-01T10:00:00Z')
    expect(await scheduling.row('s3')).toMatchObject({ state: 'paused' })
  })

  it('gets another try when it is written with other columns, and loses nothing', async () => {
    await scheduling.pool.query(
      `select tasks.schedule('s3', 'tasks', 'faulty', every => '1 min', anchor => '2027-01-01 00:00+00', catch_up => 'all', columns => '{"amount": 4}')`,
    )
    await scheduling.passAt('2027-01-01T10:01:00Z')
    expect(await faultyTasks()).toEqual(['10:00', '10:01'])
  })

  it('stays so when the same is written again, as at each start of a worker', async () => {
    const state = await scalarOf(
      scheduling.pool,
      `select tasks.schedule('s3', 'tasks', 'faulty', every => '1 min', anchor => '2027-01-01 00:00+00', catch_up => 'all', columns => '{"amount": 5}')`,
    )
    expect(state).toBe('paused')
  })

  it('goes on from now when it is resumed without catchUp', async () => {
    await scheduling.pool.query('alter table tasks.faulty drop constraint small')
    await scheduling.stopClockAt('2027-01-01T10:05:30Z')
    await resumeSchedule(scheduling.pool, 's3')
    await scheduling.passAt('2027-01-01T10:06:00Z')
    expect(await faultyTasks()).toEqual(['10:06'])
  })
})

describe('what may pass keeps a schedule due, and the others do not wait', () => {
  it('a table that is locked', async () => {
    const owner = await scheduling.database.client()
    await owner.query('begin; lock table tasks.faulty in access exclusive mode')
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const { fired, failed, refused } = await scheduling.pass()
    expect(fired).toHaveLength(4)
    expect(refused).toEqual([])
    expect(failed).toEqual([{ key: 's3', error: 'canceling statement due to lock timeout' }])
    expect(await scheduling.row('s3')).toMatchObject({ state: 'active', last_error: failed[0]?.error })
    await owner.query('commit')
    await scheduling.pass()
    expect(await faultyTasks()).toEqual(['10:00'])
    expect(await scheduling.row('s3')).toMatchObject({ last_error: null })
  })

  it('a table that is locked, of which many schedules are due', async () => {
    await scheduling.pool.query(
      `select tasks.schedule('also ' || n, 'tasks', 'faulty', every => '1 min', anchor => '2027-01-01 00:00+00', columns => '{"amount": 5}')
       from generate_series(1, 54) n`,
    )
    const owner = await scheduling.database.client()
    await owner.query('begin; lock table tasks.faulty in access exclusive mode')
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const { fired, failed } = await scheduling.pass()
    // Each of them would wait 200 ms, and two seconds are what a pass has.
    expect(failed).toHaveLength(55)
    expect(new Set(failed.map(({ error }) => error))).toEqual(
      new Set(['canceling statement due to lock timeout', 'tasks.faulty is locked']),
    )
    expect(fired).toHaveLength(4)
    await owner.query('rollback')
    expect((await scheduling.pass()).fired).toHaveLength(55)
  })

  it.each([
    ['a deadlock', '40P01'],
    ['a foreign server that is away', '08001'],
    ['a full disk', '53100'],
  ])('%s', async (_, code) => {
    await scheduling.pool.query(
      `create or replace function object() returns trigger language plpgsql as $$ begin raise exception 'not now' using errcode = '${code}'; end $$;
       create trigger object before insert on tasks.faulty for each row execute function object()`,
    )
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    expect(await scheduling.pass()).toMatchObject({ refused: [], failed: [{ key: 's3', error: 'not now' }] })
    await scheduling.pool.query('drop trigger object on tasks.faulty')
    await scheduling.pass()
    expect(await faultyTasks()).toEqual(['10:00'])
  })

  it('a worker leaves it alone for a while, and finds it again by itself', async () => {
    const owner = await scheduling.database.client()
    const { lines } = await startWorker({ connectionString: scheduling.database.url })
    await owner.query('begin; lock table tasks.faulty in access exclusive mode')
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    await scheduling.wake()
    await waitFor(async () => (await scheduling.enqueued()).length === 4)
    await scheduling.stopClockAt('2027-01-01T10:01:00Z')
    await scheduling.wake()
    await waitFor(async () => (await scheduling.enqueued()).length === 8)
    await owner.query('commit')
    await waitFor(async () => (await faultyTasks()).length === 2)
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { message: 'A task of a schedule could not be enqueued; trying again', fields: { key: 's3' } },
    ])
    await waitFor(() => lines.some(({ message }) => message === 'A schedule is handled again'))
  })

  it('a trigger that hangs, which is found out by taking the schedules one by one', { timeout: 60_000 }, async () => {
    await scheduling.pool.query(
      `create or replace function hang() returns trigger language plpgsql as $$ begin perform pg_sleep(3600); return new; end $$;
       create trigger hang before insert on tasks.faulty for each row execute function hang()`,
    )
    await startWorker({ connectionString: scheduling.database.url })
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    await scheduling.wake()
    await waitFor(async () => (await scheduling.enqueued()).length === 4, { timeoutMs: 45_000 })
    expect(await scheduling.row('s3')).toMatchObject({ state: 'active', runs: '0' })
  })
})

describe('a scheduler that is suspended or cut off in the middle of a pass', () => {
  it('holds its schedules for five seconds at most', async () => {
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const pass = await scheduling.startPass()
    expect(pass.due).toHaveLength(5)
    expect((await scheduling.pass()).fired).toEqual([])
    await waitFor(async () => (await scheduling.pass()).fired.length > 0, { timeoutMs: 10_000 })
    expect(await scheduling.enqueued('s1')).toEqual(['01-01T10:00 schedule'])
    await expect(pass.write()).rejects.toThrow()
  })
})
