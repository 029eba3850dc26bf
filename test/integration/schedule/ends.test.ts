import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Scheduling } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T10:30:00Z')
})

// Case 27.
describe('a schedule with bounds', () => {
  const [startsAt, endsAt] = [new Date('2027-01-01T11:00:00Z'), new Date('2027-01-01T12:00:00Z')]

  it.each([
    { name: 'cron', options: { cron: '0 * * * *' } },
    { name: 'an interval', options: { everyMs: 3_600_000, anchor: new Date('2027-01-01T00:00:00Z') } },
    { name: 'an interval whose grid begins with startsAt', options: { everyMs: 3_600_000 } },
  ])('runs at both of them and is finished: $name', async ({ options }) => {
    await scheduling.schedule({ ...options, startsAt, endsAt })
    expect(await scheduling.nextAt()).toBe('01-01T11:00')
    for (const hour of ['11', '12', '13']) await scheduling.passAt(`2027-01-01T${hour}:00:00Z`)
    expect(await scheduling.enqueued()).toEqual(['01-01T11:00 schedule', '01-01T12:00 schedule'])
    expect(await scheduling.row()).toMatchObject({ state: 'finished', next_at: null })
    expect(await scheduling.nextInMs()).toBeNull()
  })

  it('is finished at once when its end has passed', async () => {
    await scheduling.stopClockAt('2027-01-01T12:00:00Z')
    await scheduling.schedule({ cron: '0 * * * *', endsAt })
    await scheduling.schedule({ key: 'grid', everyMs: 3_600_000, endsAt })
    expect(await scheduling.row()).toMatchObject({ state: 'finished' })
    expect(await scheduling.row('grid')).toMatchObject({ state: 'finished' })
  })

  it('goes on when its end is put off', async () => {
    await scheduling.schedule({ cron: '0 * * * *', endsAt })
    await scheduling.passAt('2027-01-01T12:00:00Z')
    await scheduling.stopClockAt('2027-01-01T14:30:00Z')
    await scheduling.schedule({ cron: '0 * * * *', endsAt: new Date('2027-01-02T12:00:00Z') })
    expect(await scheduling.nextAt()).toBe('01-01T15:00')
  })
})

describe('a schedule with a number of runs', () => {
  it('is finished after so many, the earliest of a backlog first', async () => {
    await scheduling.schedule({ cron: '* * * * *', catchUp: 'all', maxRuns: 3 })
    await scheduling.passAt('2027-01-01T10:31:00Z')
    await scheduling.passAt('2027-01-01T10:35:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T10:31 schedule', '01-01T10:32 catchup', '01-01T10:33 catchup'])
    expect(await scheduling.row()).toMatchObject({ state: 'finished', runs: '3' })
  })

  it('counts anew when it is changed', async () => {
    await scheduling.schedule({ cron: '* * * * *', maxRuns: 1 })
    await scheduling.passAt('2027-01-01T10:31:00Z')
    await scheduling.schedule({ cron: '*/2 * * * *', maxRuns: 1 })
    await scheduling.passAt('2027-01-01T10:32:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T10:31 schedule', '01-01T10:32 schedule'])
    expect(await scheduling.row()).toMatchObject({ state: 'finished' })
  })
})

// Case 27.
describe('new rules of the time zones', () => {
  /** Planned by the rules of before, by which the clocks of Berlin were an hour behind. */
  async function planByOldRules(key = 'tick'): Promise<void> {
    await scheduling.pool.query(
      `update tasks.schedules set tzdata = '2020a', next_at = next_at + interval '1 hour' where key = $1`,
      [key],
    )
  }

  beforeEach(async () => {
    await scheduling.schedule({ cron: '0 13 * * *', timezone: 'Europe/Berlin' })
    await planByOldRules()
  })

  it('plan again what is ahead', async () => {
    await scheduling.replan('2027a')
    expect(await scheduling.row()).toMatchObject({ tzdata: '2027a', revision: 1 })
    expect(await scheduling.nextAt()).toBe('01-01T12:00')
  })

  it('leave alone what is due already, and do not run the past again', async () => {
    await scheduling.stopClockAt('2027-01-01T13:00:10Z')
    await scheduling.replan('2027a')
    expect(await scheduling.nextAt()).toBe('01-01T13:00')
    await scheduling.pass()
    expect(await scheduling.enqueued()).toEqual(['01-01T13:00 schedule'])
    expect(await scheduling.nextAt()).toBe('01-02T12:00')
  })

  it('are not undone by a worker that knows older ones', async () => {
    await scheduling.replan('2027a')
    await planByOldRules()
    await scheduling.pool.query(`update tasks.schedules set tzdata = '2027a'`)
    await scheduling.replan('2026z')
    expect(await scheduling.nextAt()).toBe('01-01T13:00')
  })

  it('hold for paused schedules too', async () => {
    await scheduling.pool.query(`select tasks.pause_schedule('tick')`)
    await scheduling.replan('2027a')
    await scheduling.pool.query(`select tasks.resume_schedule('tick')`)
    expect(await scheduling.nextAt()).toBe('01-01T12:00')
  })

  it('mean nothing to UTC, to an interval and to a finished schedule', async () => {
    await scheduling.schedule({ key: 'utc', cron: '0 13 * * *' })
    await scheduling.schedule({ key: 'grid', everyMs: 3_600_000, timezone: 'Europe/Berlin' })
    await scheduling.schedule({ key: 'over', cron: '0 13 * * *', timezone: 'Europe/Berlin', endsAt: new Date(0) })
    for (const key of ['utc', 'grid']) await planByOldRules(key)
    const before = await scheduling.pool.query(`select * from tasks.schedules where key <> 'tick' order by key`)
    await scheduling.replan('2027a')
    const after = await scheduling.pool.query(`select * from tasks.schedules where key <> 'tick' order by key`)
    expect(after.rows).toEqual(before.rows)
  })

  it('set aside a schedule whose zone is gone', async () => {
    await scheduling.pool.query(`update tasks.schedules set timezone = 'Mars/Olympus'`)
    await scheduling.replan('2027a')
    expect(await scheduling.row()).toMatchObject({
      state: 'paused',
      last_error: expect.stringContaining('Mars/Olympus'),
      planned: true,
    })
    expect(await scheduling.nextAt()).toBe('01-01T13:00')
  })
})
