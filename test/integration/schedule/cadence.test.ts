import type { ScheduleOptions } from '@pg-tasks/client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { Scheduling } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(() => scheduling.clear())

/** What the database enqueues of a schedule that is written at `from`, when a scheduler looks at each of its instants. */
async function walk(options: Omit<ScheduleOptions, 'key'>, from: string, n: number): Promise<string[]> {
  await scheduling.stopClockAt(from)
  await scheduling.schedule(options)
  for (let step = 1; step <= n; step += 1) {
    const { next_at: next } = await scheduling.row()
    await scheduling.passAt(next.toISOString())
  }
  const rows = await rowsOf<{ at: Date }>(scheduling.pool, 'select occurrence_at as at from tasks.tick order by id')
  return rows.map(({ at }) => at.toISOString().replace(/(:00)?\.000Z$/, 'Z'))
}

// Cases 18 and 19, from the expression to the rows; the unit tests compare many more with an oracle.
describe('a time of day over a change of the clocks', () => {
  it.each([
    {
      cron: '30 2 * * *',
      timezone: 'America/New_York',
      from: '2027-03-13T00:00:00Z',
      occurrences: ['2027-03-13T07:30Z', '2027-03-14T07:00Z', '2027-03-15T06:30Z'],
    },
    {
      cron: '30 1 * * *',
      timezone: 'America/New_York',
      from: '2027-11-06T00:00:00Z',
      occurrences: ['2027-11-06T05:30Z', '2027-11-07T05:30Z', '2027-11-08T06:30Z'],
    },
    {
      cron: '15 2 * * *',
      timezone: 'Australia/Lord_Howe',
      from: '2027-10-01T00:00:00Z',
      occurrences: ['2027-10-01T15:45Z', '2027-10-02T15:30Z', '2027-10-03T15:15Z'],
    },
    {
      cron: '0 0 * * *',
      timezone: 'America/Santiago',
      from: '2026-09-05T00:00:00Z',
      occurrences: ['2026-09-05T04:00Z', '2026-09-06T04:00Z', '2026-09-07T03:00Z'],
    },
    {
      cron: '30 23 * * *',
      timezone: 'America/Nuuk',
      from: '2027-03-26T12:00:00Z',
      occurrences: ['2027-03-27T01:30Z', '2027-03-28T01:00Z', '2027-03-29T00:30Z'],
    },
  ])('$cron in $timezone', async ({ cron, timezone, from, occurrences }) => {
    expect(await walk({ cron, timezone }, from, occurrences.length)).toEqual(occurrences)
  })
})

// Case 18.
it('a step keeps its pace through the hour that comes twice', async () => {
  const occurrences = await walk({ cron: '*/15 * * * *', timezone: 'America/New_York' }, '2027-11-07T04:45:00Z', 9)
  expect(occurrences).toEqual(
    ['05:00', '05:15', '05:30', '05:45', '06:00', '06:15', '06:30', '06:45', '07:00'].map(
      (time) => `2027-11-07T${time}Z`,
    ),
  )
})

// Case 20.
describe('an interval', () => {
  it('is elapsed time, whatever the clocks of the zone or of the session do', async () => {
    const client = await scheduling.database.client()
    await client.query(`set timezone = 'America/New_York'`)
    await scheduling.stopClockAt('2027-03-14T04:00:00Z')
    await client.query(
      `select tasks.schedule('tick', 'tasks', 'tick', every => '2 h', timezone => 'America/New_York', columns => '{"note": ""}')`,
    )
    await client.query(`select tasks.schedule('day', 'tasks', 'tick', every => '1 day', columns => '{"note": ""}')`)
    for (const time of ['06', '08', '10', '12']) await scheduling.passAt(`2027-03-14T${time}:00:00Z`)
    expect(await scheduling.enqueued('tick')).toEqual(
      ['06', '08', '10', '12'].map((hour) => `03-14T${hour}:00 schedule`),
    )
    expect(await scheduling.nextAt('day')).toBe('03-15T04:00')
  })

  it('keeps its grid, milliseconds included, when an occurrence is handled 40 seconds late', async () => {
    await scheduling.stopClockAt('2027-01-01T00:00:00.123Z')
    await scheduling.schedule({ everyMs: 60_000 })
    await scheduling.passAt('2027-01-01T00:01:40.123Z')
    expect(await scheduling.nextAt()).toBe('01-01T00:02:00.123')
  })

  it('has one next instant, computed by SQL or by a worker', async () => {
    const anchor = new Date('2026-02-28T23:59:58.765Z')
    for (const seconds of [1, 7, 59, 3_600, 86_400, 604_800, 31_557_600]) {
      await scheduling.clear()
      await scheduling.stopClockAt('2027-01-01T11:22:33.444Z')
      await scheduling.schedule({ everyMs: seconds * 1_000, anchor, catchUp: 'latest' })
      const bySql = (await scheduling.row()).next_at as Date
      expect((bySql.getTime() - anchor.getTime()) % (seconds * 1_000)).toBe(0)
      expect(bySql.getTime() - Date.parse('2027-01-01T11:22:33.444Z')).toBeGreaterThan(0)
      expect(bySql.getTime() - Date.parse('2027-01-01T11:22:33.444Z')).toBeLessThanOrEqual(seconds * 1_000)
      await scheduling.passAt(bySql.toISOString())
      expect((await scheduling.row()).next_at.getTime() - bySql.getTime()).toBe(seconds * 1_000)
    }
  })
})

// Case 21.
describe('a date that is rare', () => {
  it.each([
    { cron: '0 0 29 2 *', from: '2027-01-01T00:00:00Z', occurrences: ['2028-02-29T00:00Z', '2032-02-29T00:00Z'] },
    { cron: '0 0 29 2 *', from: '2096-03-01T00:00:00Z', occurrences: ['2104-02-29T00:00Z'] },
    { cron: '0 0 31 * *', from: '2027-01-31T12:00:00Z', occurrences: ['2027-03-31T00:00Z', '2027-05-31T00:00Z'] },
    { cron: '0 9 * * 5#5', from: '2027-01-01T00:00:00Z', occurrences: ['2027-01-29T09:00Z', '2027-04-30T09:00Z'] },
    {
      cron: '0 0 13 * 5',
      from: '2027-01-02T00:00:00Z',
      occurrences: ['2027-01-08T00:00Z', '2027-01-13T00:00Z', '2027-01-15T00:00Z'],
    },
  ])('$cron from $from', async ({ cron, from, occurrences }) => {
    expect(await walk({ cron }, from, occurrences.length)).toEqual(occurrences)
  })
})

describe('jitter', () => {
  const delays = `select extract(epoch from planned_to - occurrence_at)::float * 1000 as ms, occurrence_at from tasks.tick order by occurrence_at`

  it('puts off the task, not the occurrence, within its bounds, by the same for the same occurrence', async () => {
    await scheduling.stopClockAt('2027-01-01T00:00:00Z')
    const jittered = { everyMs: 60_000, jitterMs: 30_000, catchUp: 'all', catchUpWindowMs: 86_400_000 } as const
    await scheduling.schedule(jittered)
    await scheduling.passAt('2027-01-01T05:00:00Z')
    const first = await rowsOf<{ ms: number }>(scheduling.pool, delays)
    expect(first).toHaveLength(300)
    expect(Math.min(...first.map(({ ms }) => ms))).toBeGreaterThanOrEqual(0)
    expect(Math.max(...first.map(({ ms }) => ms))).toBeLessThan(30_000)
    // Spread over all of it: each tenth has some of the 300.
    expect(new Set(first.map(({ ms }) => Math.floor(ms / 3_000))).size).toBe(10)

    await scheduling.clear()
    const client = await scheduling.database.client()
    await client.query('set extra_float_digits = -15')
    await scheduling.stopClockAt('2027-01-01T00:00:00Z')
    await scheduling.schedule(jittered)
    await scheduling.stopClockAt('2027-01-01T05:00:00Z')
    const { due } = await scheduling.startPass().then(async (pass) => {
      await pass.client.query('set local extra_float_digits = -15')
      await pass.write()
      await pass.commit()
      return pass
    })
    expect(due).toHaveLength(1)
    expect(await rowsOf(scheduling.pool, delays)).toEqual(first)
  })

  it('differs between schedules, and may be none', async () => {
    const [one, other, none] = await Promise.all(
      [`'a', now(), '1 day'`, `'b', now(), '1 day'`, `'a', now(), '0'`].map((of) =>
        scalarOf<string>(scheduling.pool, `select tasks.jitter_of(${of.replace('now()', `'2027-01-01'`)})::text`),
      ),
    )
    expect(one).not.toBe(other)
    expect(none).toBe('00:00:00')
  })
})
