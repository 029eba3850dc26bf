import { listSchedules } from '@pg-tasks/client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Scheduling } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(() => scheduling.clear())

// Case 6; and 14: for a database whose clock is put forward, it is the same.
describe('after three minutes without a scheduler', () => {
  beforeEach(() => scheduling.stopClockAt('2027-01-01T12:59:30Z'))

  it.each([
    {
      name: 'all missed occurrences are made up for',
      options: { catchUp: 'all' },
      enqueued: ['01-01T13:00 catchup', '01-01T13:01 catchup', '01-01T13:02 catchup', '01-01T13:03 schedule'],
      dropped: 0,
    },
    {
      name: 'the latest one runs, and the others are counted as dropped',
      options: { catchUp: 'latest' },
      enqueued: ['01-01T13:03 schedule'],
      dropped: 3,
    },
    {
      name: 'the latest one runs also if it was missed itself',
      options: { catchUp: 'latest', graceMs: 5_000 },
      enqueued: ['01-01T13:03 catchup'],
      dropped: 3,
    },
    {
      name: 'only what is within the grace runs',
      options: { catchUp: 'none' },
      enqueued: ['01-01T13:03 schedule'],
      dropped: 3,
    },
    {
      name: 'nothing runs where nothing is within the grace',
      options: { catchUp: 'none', graceMs: 5_000 },
      enqueued: [],
      dropped: 4,
    },
  ] as const)('$name', async ({ options, enqueued, dropped }) => {
    await scheduling.schedule({ cron: '* * * * *', ...options })
    await scheduling.passAt('2027-01-01T13:03:10Z')
    expect(await scheduling.enqueued()).toEqual(enqueued)
    expect(await scheduling.nextAt()).toBe('01-01T13:04')
    expect(await listSchedules(scheduling.pool)).toMatchObject([{ runs: enqueued.length, dropped, state: 'active' }])
  })

  it('tells what was dropped', async () => {
    await scheduling.schedule({ cron: '* * * * *', catchUp: 'none' })
    await scheduling.stopClockAt('2027-01-01T13:03:10Z')
    expect((await scheduling.pass()).fired).toEqual([{ key: 'tick', enqueued: 1, dropped: 3 }])
  })
})

// Case 7.
describe('the window', () => {
  it.each([
    { name: 'bounds what all makes up for', catchUp: 'all', enqueued: ['01-01T14:20 catchup', '01-01T14:30 schedule'] },
    { name: 'does not matter to the one that is on time', catchUp: 'latest', enqueued: ['01-01T14:30 schedule'] },
  ] as const)('$name', async ({ catchUp, enqueued }) => {
    await scheduling.stopClockAt('2027-01-01T12:55:00Z')
    await scheduling.schedule({ cron: '*/10 * * * *', catchUp, catchUpWindowMs: 15 * 60_000 })
    await scheduling.passAt('2027-01-01T14:30:00.100Z')
    expect(await scheduling.enqueued()).toEqual(enqueued)
  })

  it('drops the latest one too when that is further back', async () => {
    await scheduling.stopClockAt('2027-01-01T12:55:00Z')
    await scheduling.schedule({ cron: '0 13 * * *', catchUp: 'latest', catchUpWindowMs: 3_600_000 })
    await scheduling.passAt('2027-01-01T14:00:00.001Z')
    expect(await scheduling.enqueued()).toEqual([])
    expect(await scheduling.row()).toMatchObject({ dropped: '1' })
    expect(await scheduling.nextAt()).toBe('01-02T13:00')
  })
})

// Case 8.
describe('a day of missed seconds', () => {
  it('is handed over in order, a thousand a pass', async () => {
    await scheduling.stopClockAt('2027-01-01T00:00:00Z')
    await scheduling.schedule({ cron: '* * * * * *', catchUp: 'all', catchUpWindowMs: 86_400_000 })
    await scheduling.stopClockAt('2027-01-02T00:00:00Z')
    for (let pass = 1; pass <= 3; pass += 1) {
      expect(await scheduling.pass()).toMatchObject({ more: true, fired: [{ enqueued: 1_000 }] })
    }
    const { rows } = await scheduling.pool.query(
      `select count(*)::int as tasks, count(distinct occurrence_at)::int as occurrences, max(occurrence_at) as last,
         bool_and(planned_to = occurrence_at) as in_order, (select next_at from tasks.schedules) as next
       from tasks.tick`,
    )
    expect(rows[0]).toEqual({
      tasks: 3_000,
      occurrences: 3_000,
      last: new Date('2027-01-01T00:50:00Z'),
      in_order: true,
      next: new Date('2027-01-01T00:50:01Z'),
    })
  })

  it('of a hundred schedules is shared out, and what has just become due does not wait for it', async () => {
    await scheduling.stopClockAt('2027-01-01T00:00:00Z')
    await scheduling.pool.query(
      `select tasks.schedule('behind ' || n, 'tasks', 'tick', every => '1 s', columns => '{"note": ""}', catch_up => 'all', catch_up_window => '1 day')
       from generate_series(1, 100) n`,
    )
    await scheduling.stopClockAt('2027-01-01T23:59:00Z')
    await scheduling.schedule({ key: 'on time', everyMs: 60_000 })
    await scheduling.stopClockAt('2027-01-02T00:00:00Z')
    const { fired, more } = await scheduling.pass()
    expect(fired).toContainEqual({ key: 'on time', enqueued: 1, dropped: 0 })
    expect(fired).toHaveLength(60)
    expect(fired.reduce((sum, { enqueued }) => sum + enqueued, 0)).toBeLessThanOrEqual(1_000)
    expect(more).toBe(true)
  })
})
