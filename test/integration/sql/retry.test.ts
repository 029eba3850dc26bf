import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { startRun } from './task-in-state.js'

const database = await createDatabase()
const session = await database.client()

beforeAll(async () => {
  await createTaskType(session, 'mail', {
    settings: "max_retries => null, backoff_base => '2 s', backoff_max => '1 minute'",
  })
  await createTaskType(session, 'twice', { settings: 'max_retries => 1' })
  await createTaskType(session, 'once', { settings: 'max_retries => 0' })
})

afterEach(async () => {
  await moveClock(session, '0')
  await session.query('truncate tasks.mail, tasks.twice, tasks.once')
})

const retry = (id: string, options = '') =>
  scalarOf<string>(session, `select tasks.retry_tasks_mail($1 ${options && `, ${options}`})`, [id])
/** Seconds until the task is planned. */
const waitOf = (id: string) =>
  scalarOf<number>(
    session,
    'select extract(epoch from planned_to - clock_timestamp())::float8 from tasks.mail where id = $1',
    [id],
  )

describe('the time of the next run', () => {
  it('is planned_to when it is given', async () => {
    const { id } = await startRun(session, 'mail')
    expect(await retry(id, "planned_to => '2100-01-01 00:00Z'")).toBe('scheduled')
    expect(await scalarOf(session, "select planned_to = '2100-01-01 00:00Z' from tasks.mail")).toBe(true)
  })

  it('is now for a planned_to that has passed', async () => {
    const { id } = await startRun(session, 'mail')
    expect(await retry(id, "planned_to => '2000-01-01'")).toBe('ready')
    expect(await rowsOf(session, 'select id from tasks.acquire_tasks_mail(1)')).toEqual([{ id }])
  })

  it('is delay from now when that is given, in elapsed time whatever the time zone does', async () => {
    // B-61: in Berlin the 29th of March 2026 has 23 hours.
    await session.query("set timezone = 'Europe/Berlin'")
    await session.query(
      `create or replace function tasks.clock() returns timestamptz language sql volatile as $$ select '2026-03-28 12:00+01'::timestamptz $$`,
    )
    const { id } = await startRun(session, 'mail')
    await retry(id, "delay => '1 day'")
    expect(await scalarOf(session, "select planned_to = '2026-03-29 13:00+02' from tasks.mail")).toBe(true)
    await session.query('reset timezone')
  })

  it('is delay 0 at once', async () => {
    const { id } = await startRun(session, 'mail')
    expect(await retry(id, "delay => '0'")).toBe('ready')
  })

  // O-18
  it.each(['', 'planned_to => null', 'planned_to => null, delay => null'])(
    'is the backoff of the type for (%s), never NULL',
    async (options) => {
      const { id } = await startRun(session, 'mail')
      expect(await retry(id, options)).toBe('scheduled')
      const wait = await waitOf(id)
      expect(wait).toBeGreaterThan(1.5)
      expect(wait).toBeLessThanOrEqual(2.4)
    },
  )

  it('doubles with each execution up to the maximum, give or take a fifth', async () => {
    const { id } = await startRun(session, 'mail')
    for (let execution = 1; execution <= 8; execution += 1) {
      const due = Math.min(2 * 2 ** (execution - 1), 1_000)
      await retry(id)
      const wait = await waitOf(id)
      expect(wait).toBeGreaterThan(Math.min(due * 0.8, 60) - 0.5)
      expect(wait).toBeLessThanOrEqual(Math.min(due * 1.2, 60))
      await session.query('update tasks.mail set planned_to = now()')
      await session.query('select tasks.acquire_tasks_mail(1)')
    }
  })

  // B-62
  it.each([1, 60, 2_000, 2_147_483_647])('is bounded after %s executions', async (executions) => {
    const { id } = await startRun(session, 'mail')
    await session.query('update tasks.mail set execution_count = $1', [executions])
    await retry(id)
    expect(await waitOf(id)).toBeLessThanOrEqual(60)
  })
})

describe('tasks.backoff', () => {
  const seconds = (base: string, max: string, retries: number | null) =>
    scalarOf<number>(session, 'select extract(epoch from tasks.backoff($1, $2, $3))::float8', [base, max, retries])

  it('spreads over its whole range', async () => {
    const waits = (
      await rowsOf(
        session,
        "select extract(epoch from tasks.backoff('1 s', '1 hour', 3))::float8 as wait from generate_series(1, 500)",
      )
    ).map((row) => row.wait)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(6.4)
    expect(Math.min(...waits)).toBeLessThan(6.8)
    expect(Math.max(...waits)).toBeLessThanOrEqual(9.6)
    expect(Math.max(...waits)).toBeGreaterThan(9.2)
  })

  it('takes any count and any pair of intervals', async () => {
    for (const retries of [-5, 0, null]) expect(await seconds('10 s', '1 hour', retries)).toBeLessThanOrEqual(12)
    expect(await seconds('1 s', '1000 years', 2_000_000_000)).toBeLessThan(1.3e9)
    expect(await seconds('1000 years', '1000 years', 1_000)).toBeGreaterThan(1e8)
    expect(await seconds('1 day', '1 month', 40)).toBe(30 * 86_400)
  })
})

describe('executions', () => {
  it('go on without end where max_retries is NULL', async () => {
    const { id } = await startRun(session, 'mail')
    await session.query('update tasks.mail set execution_count = 2147483647')
    expect(await retry(id)).toBe('scheduled')
  })

  // O-16
  it.each([
    ['once', 1],
    ['twice', 2],
  ])('of the type %s are %i: max_retries counts those after the first', async (type, executions) => {
    const id = await scalarOf<string>(session, `insert into tasks.${type} default values returning id`)
    for (let execution = 1; execution <= executions; execution += 1) {
      expect(await rowsOf(session, `select execution_count from tasks.acquire_tasks_${type}(1)`)).toEqual([
        { execution_count: execution },
      ])
      const state = await scalarOf(session, `select tasks.retry_tasks_${type}($1, planned_to => now(), error => $2)`, [
        id,
        `boom ${execution}`,
      ])
      expect(state).toBe(execution === executions ? 'failed' : 'ready')
    }
    expect(await rowsOf(session, `select id from tasks.acquire_tasks_${type}(1)`)).toEqual([])
    expect(
      await rowsOf(
        session,
        `select failure_reason, last_error, failed_at is not null as dated, started_at is not null as started, run_token, run_worker, run_until from tasks.${type}`,
      ),
    ).toEqual([
      {
        failure_reason: 'error',
        last_error: `boom ${executions}`,
        dated: true,
        started: true,
        run_token: null,
        run_worker: null,
        run_until: null,
      },
    ])
  })

  it.each(['error', 'lost', 'run_limit'])(
    'that are used up leave the reason %s and keep planned_to',
    async (reason) => {
      const { id } = await startRun(session, 'once')
      expect(
        await scalarOf(session, "select tasks.retry_tasks_once($1, planned_to => '2100-01-01', reason => $2)", [
          id,
          reason,
        ]),
      ).toBe('failed')
      expect(await rowsOf(session, 'select failure_reason, planned_to::text from tasks.once')).toEqual([
        { failure_reason: reason, planned_to: '-infinity' },
      ])
    },
  )

  it('are judged by the max_retries of today', async () => {
    const { id } = await startRun(session, 'once')
    await session.query("select tasks.configure('tasks', 'once', 'max_retries', '5')")
    expect(await scalarOf(session, 'select tasks.retry_tasks_once($1)', [id])).toBe('scheduled')
    await session.query("select tasks.configure('tasks', 'once', 'max_retries', '0')")
  })

  it('leave no reason behind while there are some left', async () => {
    const { id } = await startRun(session, 'mail')
    await retry(id, "reason => 'run_limit', error => 'too long'")
    expect(await rowsOf(session, 'select failure_reason, failed_at, last_error from tasks.mail')).toEqual([
      { failure_reason: null, failed_at: null, last_error: 'too long' },
    ])
  })
})

describe('what is stored', () => {
  it('is the comment and the error, each kept when none is given (O-19)', async () => {
    const { id } = await startRun(session, 'mail')
    await retry(id, "planned_to => now(), comment => 'first', error => 'boom'")
    await session.query('select tasks.acquire_tasks_mail(1)')
    await retry(id)
    expect(await rowsOf(session, 'select comment, last_error from tasks.mail')).toEqual([
      { comment: 'first', last_error: 'boom' },
    ])
  })

  it('is at most 10,000 characters of the error', async () => {
    const { id } = await startRun(session, 'mail')
    await retry(id, "error => repeat('€', 20000)")
    expect(await scalarOf(session, 'select length(last_error) from tasks.mail')).toBe(10_000)
  })

  it('makes the task wait like one that never ran: no start, no token, no lease', async () => {
    const { id } = await startRun(session, 'mail')
    await retry(id)
    expect(
      await rowsOf(session, 'select started_at, run_token, run_worker, run_until, execution_count from tasks.mail'),
    ).toEqual([{ started_at: null, run_token: null, run_worker: null, run_until: null, execution_count: 1 }])
  })
})

it.each([
  ["reason => 'bored'", 'retry: reason must be error, lost or run_limit, not bored'],
  ['reason => null', 'retry: reason must be error, lost or run_limit, not NULL'],
  ["delay => '-1 s'", 'retry: delay must not be negative, not -00:00:01'],
  ["delay => '1 mon -40 days'", 'retry: delay must not be negative, not 1 mon -40 days'],
  ["delay => '2000 years'", 'retry: delay must be at most 1000 years, not 2000 years'],
  ["delay => '170000000 years'", 'retry: delay must be at most 1000 years, not 170000000 years'],
  ["delay => '1 s', planned_to => now()", 'retry: give planned_to or delay, not both'],
])('refuses %s and changes nothing', async (options, message) => {
  const { id } = await startRun(session, 'mail')
  const error = await refusalOf(retry(id, options))
  expect(error).toMatchObject({ code: 'TQ003', message })
  expect(await scalarOf(session, 'select started_at is not null from tasks.mail')).toBe(true)
})

// O-26
it('notifies at commit, so that a worker hears of a retry that is due at once', async () => {
  const listener = await database.client()
  const heard: string[] = []
  listener.on('notification', (notification) => heard.push(`${notification.channel} ${notification.payload}`))
  const { id } = await startRun(session, 'mail')
  await listener.query('listen pg_tasks')
  await session.query('begin')
  await retry(id, "delay => '0'")
  await listener.query('select')
  expect(heard).toEqual([])
  await session.query('commit')
  await listener.query('select')
  expect(heard).toEqual(['pg_tasks tasks.mail'])
  await listener.end()
})

it('accepts the convention`s three arguments by place', async () => {
  const { id } = await startRun(session, 'mail')
  expect(await scalarOf(session, "select tasks.retry_tasks_mail($1, '2100-01-01', 'later')", [id])).toBe('scheduled')
  expect(await scalarOf(session, 'select comment from tasks.mail')).toBe('later')
})
