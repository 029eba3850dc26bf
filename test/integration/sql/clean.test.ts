import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { endOpenTransactions } from './end-open-transactions.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { STATES, stateOf, taskInState } from './task-in-state.js'
import { waitUntilBlocked } from './wait-until-blocked.js'

const database = await createDatabase()
const session = await database.client()
const notices: string[] = []
session.on('notice', (notice) => notices.push(notice.message ?? ''))

beforeAll(async () => {
  await createTaskType(session, 'mail', { settings: 'max_retries => 1000' })
  await createTaskType(session, 'kept', { settings: "storage_time => '7 days'" })
})

afterEach(async () => {
  await endOpenTransactions(session)
  await moveClock(session, '0')
  await session.query('drop table if exists letter')
  await session.query('delete from tasks.mail')
  await session.query('delete from tasks.kept')
  notices.length = 0
})

const clean = (args: string) => scalarOf<string>(session, `select tasks.clean_tasks_mail(${args})`)
const enqueueFinished = (count: number, age: string) =>
  session.query(
    `insert into tasks.mail (started_at, finished_at) select now(), now() - interval '${age}' from generate_series(1, $1)`,
    [count],
  )

describe('which tasks', () => {
  // O-27
  it.each(['finished', 'failed', 'canceled'])(
    'of the state %s go when they are asked for, and no others',
    async (wanted) => {
      for (const state of STATES) await taskInState(session, 'mail', state)
      await moveClock(session, '1 hour')
      expect(await clean(`'30 minutes', '{${wanted}}'`)).toBe('1')
      const left = await rowsOf(
        session,
        'select tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) as state from tasks.mail',
      )
      expect(left.map((row) => row.state)).not.toContain(wanted)
      expect(left).toHaveLength(5)
    },
  )

  it('are the finished ones when no state is named, as in the convention', async () => {
    for (const state of STATES) await taskInState(session, 'mail', state)
    expect(await clean("'0'")).toBe('1')
    expect(await scalarOf(session, 'select count(finished_at) from tasks.mail')).toBe('0')
  })

  it('ended longer ago than the interval, counted from their own end', async () => {
    await enqueueFinished(3, '2 hours')
    await enqueueFinished(4, '30 minutes')
    expect(await clean("'1 hour'")).toBe('3')
    expect(await clean("'29 minutes'")).toBe('4')
  })

  it('are counted in elapsed time, whatever the time zone does', async () => {
    await session.query("set timezone = 'Europe/Berlin'")
    await session.query(
      `create or replace function tasks.clock() returns timestamptz language sql volatile as $$ select '2026-03-29 12:00+02'::timestamptz $$`,
    )
    // 23 hours and 30 minutes ago, although the wall clock says 24:30.
    await session.query("insert into tasks.mail (started_at, finished_at) values ('2026-03-28', '2026-03-28 11:30+01')")
    expect(await clean("'1 day'")).toBe('0')
    expect(await clean("'23 hours'")).toBe('1')
    await session.query('reset timezone')
  })

  it('ended before the instant of clean_before, infinity included', async () => {
    await session.query(
      "insert into tasks.mail (started_at, finished_at) values (now(), '2020-01-01'), (now(), '2021-01-01'), (now(), now())",
    )
    expect(await scalarOf(session, "select tasks.clean_before_tasks_mail('2020-06-01')")).toBe('1')
    expect(await scalarOf(session, "select tasks.clean_before_tasks_mail('-infinity')")).toBe('0')
    expect(await scalarOf(session, "select tasks.clean_before_tasks_mail('infinity', max_num => 1)")).toBe('1')
    expect(await scalarOf(session, 'select extract(year from finished_at)::int > 2024 from tasks.mail')).toBe(true)
  })

  it('include those that a user`s own update ended', async () => {
    await session.query("insert into tasks.mail (canceled, planned_to) values (true, '2020-01-01')")
    expect(await clean("'0', '{canceled}'")).toBe('0')
    expect(await scalarOf(session, 'select canceled_at is not null from tasks.mail')).toBe(true)
    await moveClock(session, '1 hour')
    expect(await clean("'30 minutes', '{canceled}'")).toBe('1')
  })

  it('stand in one state each, whatever ends they have had', async () => {
    await session.query(`
      insert into tasks.mail (started_at, finished_at, canceled, canceled_at, failed_at) values
        ('2020-01-01', '2020-01-02', true, '2020-01-03', '2020-01-04'), ('2020-01-01', null, true, '2020-01-03', '2020-01-04')`)
    expect(await clean("'0', '{failed}'")).toBe('0')
    expect(await clean("'0', '{canceled}'")).toBe('1')
    expect(await clean("'0'")).toBe('1')
  })
})

describe('how many', () => {
  it('are at most max_num, the oldest first', async () => {
    for (const age of ['3 hours', '5 hours', '4 hours', '2 hours']) await enqueueFinished(1, age)
    expect(await clean("'0', max_num => 2")).toBe('2')
    expect(
      await scalarOf(session, "select max(now() - finished_at) < interval '3 hours 1 minute' from tasks.mail"),
    ).toBe(true)
  })

  it('are counted over several states and several batches', async () => {
    await enqueueFinished(2_300, '1 hour')
    await session.query(
      "insert into tasks.mail (started_at, failed_at) select now(), now() - interval '1 hour' from generate_series(1, 1200)",
    )
    expect(await clean("'1 minute', '{finished,failed}', 2900")).toBe('2900')
    expect(await rowsOf(session, 'select finished, failed from tasks.stats_of_tasks_mail')).toEqual([
      { finished: '0', failed: '600' },
    ])
    expect(await clean("'1 minute', '{finished,failed}'")).toBe('600')
  })
})

describe('storage_time', () => {
  it('is taken when no interval is given', async () => {
    await session.query(
      "insert into tasks.kept (started_at, finished_at) values (now(), now() - interval '8 days'), (now(), now() - interval '6 days')",
    )
    expect(await scalarOf(session, 'select tasks.clean_tasks_kept()')).toBe('1')
    expect(await scalarOf(session, "select tasks.clean_tasks_kept('5 days')")).toBe('1')
  })

  it('is asked for where there is none: a clean that could delete nothing says so', async () => {
    for (const args of ['', 'null']) {
      const error = await refusalOf(clean(args))
      expect(error).toMatchObject({
        code: 'TQ003',
        message: 'clean: finished_after is NULL and tasks.mail has no storage_time',
      })
      expect(error.hint).toContain('tasks.configure')
    }
  })
})

it.each([
  ["clean_tasks_mail('-1 s')", 'clean: finished_after must not be negative, not -00:00:01'],
  ["clean_tasks_mail('7000 years')", 'clean: finished_after must be at most 1000 years, not 7000 years'],
  ['clean_before_tasks_mail(null)', 'clean_before: finished_before must not be NULL'],
  ["clean_tasks_mail('0', null)", 'clean_before: states must name some of finished, failed, canceled, not NULL'],
  ["clean_tasks_mail('0', '{}')", 'clean_before: states must name some of finished, failed, canceled, not {}'],
  [
    "clean_tasks_mail('0', '{ready}')",
    'clean_before: states must name some of finished, failed, canceled, not {ready}',
  ],
  [
    "clean_tasks_mail('0', '{finished,NULL}')",
    'clean_before: states must name some of finished, failed, canceled, not {finished,NULL}',
  ],
  ["clean_tasks_mail('0', max_num => 0)", 'clean_before: max_num must be at least 1, not 0'],
])('refuses %s', async (call, message) => {
  await enqueueFinished(1, '1 hour')
  expect(await refusalOf(session.query(`select tasks.${call}`))).toMatchObject({ code: 'TQ003', message })
  expect(await scalarOf(session, 'select count(*) from tasks.mail')).toBe('1')
})

describe('rows that something holds', () => {
  // B-63
  it.each(['', 'deferrable initially immediate'])(
    'by a foreign key (%s) are kept and reported, the rest go',
    async (deferrable) => {
      await session.query(`create table letter (task_id bigint references tasks.mail ${deferrable})`)
      await enqueueFinished(1_500, '1 hour')
      await session.query('insert into letter select id from tasks.mail order by id limit 10')
      expect(await clean("'1 minute'")).toBe('1490')
      expect(await scalarOf(session, 'select count(*) from tasks.mail')).toBe('10')
      expect(notices.join()).toContain('kept')
      expect(await clean("'1 minute'")).toBe('0')
      await session.query('delete from letter')
      expect(await clean("'1 minute'")).toBe('10')
    },
  )

  // By one that clean doesn't see beforehand, here of the table to itself, it finds them by trying.
  it.each(['', 'deferrable initially deferred'])(
    'by a foreign key (%s) of their own table are kept, the rest go',
    async (deferrable) => {
      await session.query(`alter table tasks.mail add parent bigint references tasks.mail ${deferrable}`)
      await enqueueFinished(20, '1 hour')
      await session.query('insert into tasks.mail (parent) select id from tasks.mail order by id limit 2')
      expect(await clean("'1 minute'")).toBe('18')
      expect(notices.join()).toContain('kept')
      await session.query("select tasks.configure('tasks', 'mail', 'storage_time', '1 minute')")
      expect(await rowsOf(session, 'select kept, reason from tasks.maintain()')).toEqual([
        { kept: '2', reason: expect.stringContaining('foreign key') },
      ])
      await session.query("select tasks.configure('tasks', 'mail', 'storage_time', null)")
      await session.query('alter table tasks.mail drop parent')
    },
  )

  it('by a foreign key with an action go with it', async () => {
    await session.query('create table letter (task_id bigint references tasks.mail on delete cascade)')
    await enqueueFinished(3, '1 hour')
    await session.query('insert into letter select id from tasks.mail')
    expect(await clean("'1 minute'")).toBe('3')
    expect(await scalarOf(session, 'select count(*) from letter')).toBe('0')
  })

  it('in an open transaction are passed by, also by a second cleaner', async () => {
    await enqueueFinished(10, '1 hour')
    const other = await database.client()
    await other.query('begin')
    expect(await scalarOf(other, "select tasks.clean_tasks_mail('1 minute', max_num => 4)")).toBe('4')
    await session.query("set lock_timeout = '2 s'")
    expect(await clean("'1 minute'")).toBe('6')
    await session.query('reset lock_timeout')
    await other.query('rollback')
    expect(await clean("'1 minute'")).toBe('4')
  })

  it('two cleaners at once delete each row once and never deadlock', async () => {
    await enqueueFinished(5_000, '1 hour')
    const clients = await Promise.all([database.client(), database.client()])
    const counts = await Promise.all(
      clients.map(async (client) => {
        let count = 0
        for (;;) {
          const some = Number(await scalarOf(client, "select tasks.clean_tasks_mail('1 minute', max_num => 130)"))
          if (some === 0) return count
          count += some
        }
      }),
    )
    expect((counts[0] as number) + (counts[1] as number)).toBe(5_000)
  })
})

describe('a row that is reset meanwhile', () => {
  it('survives: its reset came first', async () => {
    const { id } = await taskInState(session, 'mail', 'finished')
    const other = await database.client()
    await other.query('begin')
    await other.query('select tasks.reset_tasks_mail($1)', [id])
    expect(await clean("'0'")).toBe('0')
    await other.query('commit')
    expect(await clean("'0'")).toBe('0')
    expect(await stateOf(session, 'mail', id)).toBe('ready')
  })

  it('is reported as gone to a reset that came second', async () => {
    const { id } = await taskInState(session, 'mail', 'finished')
    const other = await database.client()
    await other.query('begin')
    expect(await scalarOf(other, "select tasks.clean_tasks_mail('0')")).toBe('1')
    const resetting = refusalOf(session.query('select tasks.reset_tasks_mail($1)', [id]))
    await waitUntilBlocked(database.pool, session)
    await other.query('commit')
    expect((await resetting).code).toBe('TQ002')
  })
})
