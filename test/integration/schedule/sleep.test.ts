import { schedule } from '@pg-tasks/client'
import type { Client } from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { FailureLog } from '../../../packages/client/src/logger/failure-log.js'
import { noopLogger } from '../../../packages/client/src/logger/noop-logger.js'
import { Scheduler } from '../../../packages/client/src/schedule/scheduler.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript } from '../../support/worker-process.js'
import { scalarOf } from '../sql/rows-of.js'
import { startWorker } from '../worker/start-worker.js'
import { Scheduling, tick } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T09:59:30Z')
})

const ends: Array<() => Promise<void>> = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  vi.restoreAllMocks()
})

/** A scheduler that counts its statements; it is stopped after the test. */
async function startScheduler(longestSleepMs = 60_000): Promise<{ scheduler: Scheduler; statements: string[] }> {
  const client = await scheduling.database.client()
  const statements: string[] = []
  const session = {
    query(text: string, values: readonly unknown[] = []) {
      statements.push(text)
      return client.query(text, [...values])
    },
    async transaction<Value>(work: (session: Pick<Client, 'query'>) => Promise<Value>): Promise<Value> {
      await session.query('begin')
      const value = await work(session as unknown as Client)
      await session.query('commit')
      return value
    },
  }
  const scheduler = new Scheduler({
    session,
    failures: new FailureLog(noopLogger),
    listener: { onFired: () => {}, onRefused: () => {} },
    longestSleepMs,
  })
  ends.push(async () => {
    await scheduler.stop()
    await client.end()
  })
  scheduler.start()
  return { scheduler, statements }
}

/** What the timers of this process were asked for, in milliseconds. */
function watchTimers(): () => number[] {
  const spy = vi.spyOn(globalThis, 'setTimeout')
  return () => spy.mock.calls.map(([, delayMs]) => delayMs ?? 0)
}

// Case 26.
describe('a scheduler that sleeps', () => {
  it('for 40 days wakes once a minute, and does not take the longest timer of Node for none', async () => {
    await scheduling.schedule({ cron: '0 0 10 2 *' })
    expect(await scheduling.nextInMs()).toBeGreaterThan(2 ** 31)
    const delays = watchTimers()
    const { statements } = await startScheduler()
    await waitFor(() => delays().includes(60_000))
    // Rules of the zones, a pass, the next instant: nothing is repeated.
    expect(statements.filter((text) => text.includes('due_schedules'))).toHaveLength(1)
    expect(statements.filter((text) => text.includes('next_schedule_in'))).toHaveLength(1)
  })

  it('until the next occurrence asks the database again when it wakes early, and enqueues nothing', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.stopClockAt('2027-01-01T09:59:59.950Z')
    const { statements } = await startScheduler()
    // The database's clock stands still, so each wait of 50 ms ends before the time has come.
    await waitFor(() => statements.filter((text) => text.includes('due_schedules')).length >= 4)
    expect(await scheduling.enqueued()).toEqual([])
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    await waitFor(async () => (await scheduling.enqueued()).length === 1)
  })

  it('looks less and less often at what another session holds', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const editor = await scheduling.database.client()
    await editor.query('begin')
    await editor.query(`select tasks.pause_schedule('tick')`)
    const delays = watchTimers()
    const { statements } = await startScheduler()
    await waitFor(() => delays().some((delayMs) => delayMs > 500 && delayMs <= 1_000))
    expect(statements.filter((text) => text.includes('due_schedules')).length).toBeLessThan(12)
    await editor.query('rollback')
    await waitFor(async () => (await scheduling.enqueued()).length === 1)
  })

  it('with nothing to do uses one short transaction and one look', async () => {
    const delays = watchTimers()
    const { statements } = await startScheduler()
    await waitFor(() => delays().includes(60_000))
    expect(statements.slice(-4)).toEqual([
      'begin',
      expect.stringContaining('due_schedules'),
      'commit',
      expect.stringContaining('next_schedule_in'),
    ])
  })

  it('sleeps as long where Node has no time zones of its own, as when it was built without ICU', async () => {
    const { versions } = process
    ends.push(async () => {
      Object.defineProperty(process, 'versions', { value: versions, configurable: true })
    })
    Object.defineProperty(process, 'versions', { value: { ...versions, tz: undefined }, configurable: true })
    const delays = watchTimers()
    const { statements } = await startScheduler()
    await waitFor(() => delays().includes(60_000) || statements.length > 20)
    expect(statements.filter((text) => text.includes('next_schedule_in'))).toHaveLength(1)
  })

  it('fires sixty schedules with four statements', async () => {
    await scheduling.pool.query(
      `select tasks.schedule('tick ' || n, 'tasks', 'tick', cron => '* * * * *', columns => '{"note": ""}') from generate_series(1, 60) n`,
    )
    await scheduling.pass()
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    const { statements } = await startScheduler()
    await waitFor(async () => (await scheduling.enqueued()).length === 60)
    const pass = statements.findIndex((text) => text.includes('due_schedules')) - 1
    expect(statements.slice(pass, pass + 4)).toEqual([
      'begin',
      expect.stringContaining('due_schedules'),
      expect.stringContaining('fire_schedule'),
      'commit',
    ])
  })
})

// Case 26.
describe('a worker that sleeps', () => {
  it.each([
    { by: 'TypeScript', write: () => schedule(scheduling.pool, tick, { key: 'tick', everyMs: 1_000 }, { note: '' }) },
    {
      by: 'SQL',
      write: () =>
        scheduling.pool.query(
          `select tasks.schedule('tick', 'tasks', 'tick', cron => '* * * * * *', columns => '{"note": ""}')`,
        ),
    },
  ])('is woken by a schedule that $by writes, and fires in time', async ({ write }) => {
    await scheduling.startClockAt('2027-01-01T10:00:00Z')
    await startWorker({ connectionString: scheduling.database.url })
    await scheduling.untilWorkerSleeps()
    await write()
    await waitFor(async () => (await scheduling.enqueued()).length >= 2)
    expect(await lagMs()).toBeLessThan(1_000)
  })

  it('is woken by a resume', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.pool.query(`select tasks.pause_schedule('tick')`)
    await scheduling.stopClockAt('2027-01-01T10:00:00Z')
    await startWorker({ connectionString: scheduling.database.url })
    await scheduling.untilWorkerSleeps()
    await scheduling.pool.query(`select tasks.resume_schedule('tick', catch_up => true)`)
    await waitFor(async () => (await scheduling.enqueued()).length === 1)
  })

  it('finds by its poll what no notification told', async () => {
    await startWorker({ connectionString: scheduling.database.url, pollIntervalMs: 300 })
    await scheduling.untilWorkerSleeps()
    await scheduling.pool.query(
      `insert into tasks.schedules (key, table_id, columns, every, anchor, planned, next_at)
       values ('tick', 'tasks.tick', '{"note": ""}', '1 min', '2027-01-01 09:00+00', true, '2027-01-01 09:59+00')`,
    )
    await waitFor(async () => (await scheduling.enqueued()).length === 1)
  })
})

// Case 15.
describe('a worker whose own clock is wrong', () => {
  it.each([-600_000, 600_000])('by %i ms fires in time by the clock of the database', async (shiftMs) => {
    await scheduling.startClockAt(new Date().toISOString())
    const worker = spawnScript(new URL('./workers/shifted-clock.ts', import.meta.url), {
      env: { DATABASE_URL: scheduling.database.url, SHIFT_MS: String(shiftMs) },
    })
    const [, time] = (await worker.line('ready')).split(' ')
    expect(Math.abs(Date.parse(String(time)) - Date.now() - shiftMs)).toBeLessThan(60_000)
    await scheduling.pool.query(
      `select tasks.schedule('grid', 'tasks', 'tick', every => '1 s', columns => '{"note": ""}'),
         tasks.schedule('cron', 'tasks', 'tick', cron => '* * * * * *', columns => '{"note": ""}')`,
    )
    await waitFor(async () => (await scheduling.enqueued()).length >= 6)
    expect(await lagMs()).toBeLessThan(1_000)
    expect(
      await scalarOf(scheduling.pool, "select min(created_at - occurrence_at) >= interval '0' from tasks.occurrences"),
    ).toBe(true)
    await worker.kill()
  })
})

/** The median: a machine that is busy may hold up one of them. */
function lagMs(): Promise<number> {
  return scalarOf(
    scheduling.pool,
    `select 1000 * percentile_disc(0.5) within group (order by extract(epoch from created_at - occurrence_at)::float) from tasks.occurrences`,
  )
}
