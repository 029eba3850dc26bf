import { pauseSchedule, resumeSchedule, schedule, triggerSchedule, unschedule } from '@pg-tasks/client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../../support/wait-for.js'
import { waitUntilBlocked } from '../sql/wait-until-blocked.js'
import { startWorker } from '../worker/start-worker.js'
import { Scheduling, tick } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T14:59:00Z')
})

// Case 9.
describe('a schedule that is edited while it is due', () => {
  beforeEach(async () => {
    await scheduling.schedule({ cron: '0 15 * * *' }, 'old')
    await scheduling.stopClockAt('2027-01-01T15:00:01Z')
  })

  it('follows the new times, with the new columns', async () => {
    const pass = await scheduling.startPass()
    expect(pass.due).toHaveLength(1)
    await pass.loseLocks()
    await schedule(scheduling.pool, tick, { key: 'tick', cron: '30 15 * * *' }, { note: 'new' })
    expect((await pass.write()).fired).toEqual([])
    await pass.commit()
    await scheduling.passAt('2027-01-01T15:00:02Z')
    expect(await scheduling.row()).toMatchObject({ revision: 2, state: 'active' })
    await scheduling.passAt('2027-01-01T15:30:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T15:30 schedule'])
    expect((await scheduling.pool.query('select note from tasks.tick')).rows).toEqual([{ note: 'new' }])
  })

  it('is not planned by the times that it had when a scheduler read it', async () => {
    await schedule(scheduling.pool, tick, { key: 'tick', cron: '10 15 * * *' }, { note: 'new' })
    const pass = await scheduling.startPass()
    expect(pass.due).toMatchObject([{ planned: false, revision: 2 }])
    await pass.loseLocks()
    await schedule(scheduling.pool, tick, { key: 'tick', cron: '20 15 * * *' }, { note: 'newer' })
    await pass.write()
    await pass.commit()
    expect(await scheduling.row()).toMatchObject({ state: 'unplanned', revision: 3 })
    await scheduling.pass()
    expect(await scheduling.nextAt()).toBe('01-01T15:20')
  })

  it('takes the place of the old one also where a scheduler has read that and holds it: the edit waits', async () => {
    const pass = await scheduling.startPass()
    const editor = await scheduling.database.client()
    const edited = editor.query(
      `select tasks.schedule('tick', 'tasks', 'tick', cron => '30 15 * * *', columns => '{"note": "new"}')`,
    )
    await waitUntilBlocked(scheduling.pool, editor)
    expect((await pass.write()).fired).toMatchObject([{ enqueued: 1 }])
    await pass.commit()
    await edited
    await scheduling.passAt('2027-01-01T15:30:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T15:00 schedule', '01-01T15:30 schedule'])
  })

  it('is not missed because it is planned late: its first time counts from the edit', async () => {
    await schedule(scheduling.pool, tick, { key: 'tick', cron: '* * * * *', catchUp: 'all' }, { note: 'new' })
    expect(await scheduling.row()).toMatchObject({ state: 'unplanned', next_at: null })
    // Nobody was there to plan it; the minutes passed.
    await scheduling.passAt('2027-01-01T15:03:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T15:01 catchup', '01-01T15:02 catchup', '01-01T15:03 schedule'])
  })
})

// Case 10.
describe('a schedule that is written again', () => {
  const hourly = { key: 'tick', everyMs: 3_600_000, anchor: new Date('2027-01-01T09:30:00Z') } as const

  it.each([
    { name: 'with the same interval', options: hourly },
    { name: 'with the same cron expression', options: { key: 'tick', cron: '30 * * * *', timezone: 'Asia/Tokyo' } },
  ])('$name keeps its place', async ({ options }) => {
    await schedule(scheduling.pool, tick, options, { note: 'first' })
    await scheduling.pass()
    const before = await scheduling.row()
    await scheduling.stopClockAt('2027-01-01T15:07:00Z')
    expect(await schedule(scheduling.pool, tick, options, { note: 'first' })).toBe('active')
    expect(await scheduling.row()).toEqual(before)
    await scheduling.passAt('2027-01-01T15:30:00Z')
    expect(await scheduling.enqueued()).toHaveLength(1)
  })

  it('keeps the grid of an interval that was given no anchor', async () => {
    await schedule(scheduling.pool, tick, { key: 'tick', everyMs: 3_600_000 }, { note: '' })
    await scheduling.stopClockAt('2027-01-01T15:07:00Z')
    await schedule(scheduling.pool, tick, { key: 'tick', everyMs: 3_600_000 }, { note: '' })
    expect(await scheduling.nextAt()).toBe('01-01T15:59')
  })

  it('with other columns or policies only keeps its times, and the next task has the new columns', async () => {
    await schedule(scheduling.pool, tick, hourly, { note: 'first' })
    await scheduling.stopClockAt('2027-01-01T15:30:01Z')
    expect(
      await schedule(scheduling.pool, tick, { ...hourly, catchUp: 'all', overlap: 'skip' }, { note: 'second' }),
    ).toBe('active')
    expect(await scheduling.row()).toMatchObject({ revision: 1, catch_up: 'all', overlap: 'skip' })
    await scheduling.pass()
    expect(await scheduling.enqueued()).toEqual(['01-01T15:30 schedule'])
    expect((await scheduling.pool.query('select note from tasks.tick')).rows).toEqual([{ note: 'second' }])
  })

  it('at the same moment by two processes is one schedule', async () => {
    const states = await Promise.all(
      Array.from({ length: 8 }, () => schedule(scheduling.pool, tick, hourly, { note: '' })),
    )
    expect(new Set(states)).toEqual(new Set(['active']))
    expect(await scheduling.row()).toMatchObject({ revision: 1 })
  })

  it('with another interval starts a new grid, from now on', async () => {
    await schedule(scheduling.pool, tick, { key: 'tick', everyMs: 3_600_000 }, { note: '' })
    await scheduling.stopClockAt('2027-01-01T17:10:00Z')
    await schedule(scheduling.pool, tick, { key: 'tick', everyMs: 7_200_000 }, { note: '' })
    expect(await scheduling.nextAt()).toBe('01-01T19:10')
  })
})

// Case 11.
describe('a schedule that is removed while it is due', () => {
  beforeEach(async () => {
    await scheduling.schedule({ cron: '0 15 * * *' })
    await scheduling.stopClockAt('2027-01-01T15:00:01Z')
  })

  it('enqueues nothing if the removal is committed first', async () => {
    const pass = await scheduling.startPass()
    await pass.loseLocks()
    expect(await unschedule(scheduling.pool, 'tick')).toBe(true)
    expect(await pass.write()).toMatchObject({ fired: [], refused: [] })
    await pass.commit()
    expect(await scheduling.enqueued()).toEqual([])
  })

  it('leaves the task alone that was enqueued first', async () => {
    await scheduling.pass()
    await unschedule(scheduling.pool, 'tick')
    expect(await scheduling.enqueued()).toEqual(['01-01T15:00 schedule'])
    expect(await unschedule(scheduling.pool, 'tick')).toBe(false)
  })
})

// Case 13.
describe('a schedule that is paused while it is due', () => {
  beforeEach(async () => {
    await scheduling.stopClockAt('2027-01-01T18:59:30Z')
    await scheduling.schedule({ cron: '* * * * *', catchUp: 'all' })
    await scheduling.stopClockAt('2027-01-01T19:00:00Z')
    await pauseSchedule(scheduling.pool, 'tick', 'the printer is broken')
    await scheduling.passAt('2027-01-01T19:07:30Z')
  })

  it('enqueues nothing and says why', async () => {
    expect(await scheduling.enqueued()).toEqual([])
    expect(await scheduling.row()).toMatchObject({ state: 'paused', paused_reason: 'the printer is broken' })
    expect(await scheduling.nextInMs()).toBeNull()
  })

  it('goes on from now when it is resumed', async () => {
    expect(await resumeSchedule(scheduling.pool, 'tick')).toBe('unplanned')
    await scheduling.pass()
    expect(await scheduling.nextAt()).toBe('01-01T19:08')
    await scheduling.passAt('2027-01-01T19:08:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T19:08 schedule'])
    expect(await scheduling.row()).toMatchObject({
      state: 'active',
      paused_at: null,
      paused_reason: null,
      dropped: '0',
    })
  })

  it('makes up for the pause when it is resumed with catchUp, as its policy says', async () => {
    expect(await resumeSchedule(scheduling.pool, 'tick', { catchUp: true })).toBe('active')
    await scheduling.pass()
    expect(await scheduling.enqueued()).toHaveLength(8)
    expect(await scheduling.nextAt()).toBe('01-01T19:08')
  })

  it('stays paused when it is edited, and is planned when it is resumed', async () => {
    const edit = { key: 'tick', cron: '0 * * * *' }
    expect(await schedule(scheduling.pool, tick, edit, { note: '' })).toBe('paused')
    await scheduling.passAt('2027-01-01T20:00:00Z')
    expect(await resumeSchedule(scheduling.pool, 'tick')).toBe('unplanned')
    await scheduling.pass()
    expect(await scheduling.nextAt()).toBe('01-01T21:00')
  })

  it('can be paused and resumed twice without harm', async () => {
    await pauseSchedule(scheduling.pool, 'tick', 'another reason')
    expect(await scheduling.row()).toMatchObject({ paused_reason: 'the printer is broken' })
    await resumeSchedule(scheduling.pool, 'tick')
    await scheduling.pass()
    expect(await resumeSchedule(scheduling.pool, 'tick')).toBe('active')
  })

  it.each([
    { every: '1 hour', at: '01-01T19:59:30', what: 'an interval' },
    { every: '8 min', at: '01-01T19:15:30', what: 'an interval that would be due at the moment of resuming' },
  ])('keeps the grid of $what when it is resumed', async ({ every, at }) => {
    await scheduling.stopClockAt('2027-01-01T18:59:30Z')
    await scheduling.pool.query(
      `select tasks.schedule('grid', 'tasks', 'tick', every => $1, columns => '{"note": ""}'), tasks.pause_schedule('grid')`,
      [every],
    )
    await scheduling.stopClockAt('2027-01-01T19:07:30Z')
    expect(await resumeSchedule(scheduling.pool, 'grid')).toBe('active')
    expect(await scheduling.nextAt('grid')).toBe(at)
  })
})

describe('a schedule', () => {
  it('is written, and triggered, in the transaction of the caller', async () => {
    const client = await scheduling.database.client()
    await client.query('begin')
    await schedule(client, tick, { key: 'tick', cron: '* * * * *' }, { note: '' })
    await triggerSchedule(client, 'tick')
    await client.query('rollback')
    expect(await scheduling.row()).toBeUndefined()
    expect(await scheduling.enqueued()).toEqual([])
  })

  it('follows its table when that is renamed', async () => {
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.pool.query('alter table tasks.tick rename to tock')
    await scheduling.passAt('2027-01-01T15:00:00Z')
    await scheduling.pool.query('alter table tasks.tock rename to tick')
    expect(await scheduling.enqueued()).toEqual(['01-01T15:00 schedule'])
  })

  it('of a user whose sessions are serializable is handled all the same', async () => {
    await scheduling.pool.query(
      `alter database ${scheduling.database.name} set default_transaction_isolation = 'serializable'`,
    )
    await scheduling.schedule({ cron: '* * * * *' })
    await scheduling.stopClockAt('2027-01-01T15:00:00Z')
    await startWorker({ connectionString: scheduling.database.url })
    await waitFor(async () => (await scheduling.enqueued()).length === 1)
    await scheduling.pool.query(`alter database ${scheduling.database.name} reset default_transaction_isolation`)
  })
})
