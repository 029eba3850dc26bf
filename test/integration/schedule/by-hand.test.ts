import {
  backfillSchedule,
  listSchedules,
  pauseSchedule,
  previewOccurrences,
  previewSchedule,
  ScheduleNotFoundError,
  triggerSchedule,
} from '@pg-tasks/client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { waitUntilBlocked } from '../sql/wait-until-blocked.js'
import { Scheduling, short } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T10:04:30Z')
})

async function tasks(): Promise<string[]> {
  const rows = await rowsOf<{ at: Date; trigger: string }>(
    scheduling.pool,
    'select planned_to as at, schedule_trigger as trigger from tasks.tick order by 1, 2',
  )
  return rows.map(({ at, trigger }) => `${short(at)} ${trigger}`)
}

// Case 24.
describe('a trigger by hand', () => {
  beforeEach(() => scheduling.schedule({ cron: '*/5 * * * *' }))

  it('enqueues a task at once and moves nothing', async () => {
    const id = await triggerSchedule(scheduling.pool, 'tick')
    expect(await scheduling.nextAt()).toBe('01-01T10:05')
    expect(await rowsOf(scheduling.pool, 'select id::text, note, schedule_key from tasks.tick')).toEqual([
      { id, note: 'tick', schedule_key: 'tick' },
    ])
    await scheduling.passAt('2027-01-01T10:05:00Z')
    expect(await tasks()).toEqual(['01-01T10:04:30 manual', '01-01T10:05 schedule'])
    expect(await scheduling.row()).toMatchObject({ runs: '1' })
  })

  it('with the same request id is one, in a later call and in one at the same time', async () => {
    const first = await triggerSchedule(scheduling.pool, 'tick', { requestId: 'r1' })
    expect(await triggerSchedule(scheduling.pool, 'tick', { requestId: 'r1' })).toBe(first)
    const [one, other] = [await scheduling.database.client(), await scheduling.database.client()]
    await one.query('begin')
    const second = await triggerSchedule(one, 'tick', { requestId: 'r2' })
    const third = triggerSchedule(other, 'tick', { requestId: 'r2' })
    await waitUntilBlocked(scheduling.pool, other)
    await one.query('commit')
    expect(await third).toBe(second)
    expect(await tasks()).toHaveLength(2)
  })

  it('whose transaction rolls back leaves the request id free', async () => {
    const client = await scheduling.database.client()
    await client.query('begin')
    await triggerSchedule(client, 'tick', { requestId: 'r' })
    await client.query('rollback')
    await triggerSchedule(scheduling.pool, 'tick', { requestId: 'r' })
    expect(await tasks()).toHaveLength(1)
  })

  it('many times in the same instant takes no place of another', async () => {
    for (let n = 1; n <= 200; n += 1) await triggerSchedule(scheduling.pool, 'tick')
    expect(await tasks()).toHaveLength(200)
  })

  it('in a transaction that stays open does not hold up the schedule', async () => {
    const client = await scheduling.database.client()
    await client.query('begin')
    await triggerSchedule(client, 'tick')
    await scheduling.passAt('2027-01-01T10:05:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T10:05 schedule'])
    await client.query('rollback')
  })

  it('works while the schedule is paused, and by SQL', async () => {
    await pauseSchedule(scheduling.pool, 'tick')
    const id = await scalarOf<string>(scheduling.pool, `select tasks.trigger_schedule('tick', 'from psql')::text`)
    expect(await triggerSchedule(scheduling.pool, 'tick', { requestId: 'from psql' })).toBe(id)
  })

  it('raises what the insert raises, and sets nothing aside', async () => {
    await scheduling.pool.query(`alter table tasks.tick add constraint no_ticks check (note <> 'tick')`)
    expect(await refusalOf(scheduling.pool.query(`select tasks.trigger_schedule('tick')`))).toMatchObject({
      code: '23514',
    })
    expect(await scheduling.row()).toMatchObject({ state: 'active' })
    await scheduling.pool.query('alter table tasks.tick drop constraint no_ticks')
  })

  it('of a table whose trigger swallows the row gives no id', async () => {
    await scheduling.pool.query(
      `create function swallow() returns trigger language plpgsql as 'begin return null; end';
       create trigger swallow before insert on tasks.tick for each row execute function swallow()`,
    )
    expect(await scalarOf(scheduling.pool, `select tasks.trigger_schedule('tick')`)).toBeNull()
    await scheduling.passAt('2027-01-01T10:05:00Z')
    expect(await scheduling.row()).toMatchObject({ state: 'active', runs: '1' })
    await scheduling.pool.query('drop function swallow() cascade')
  })
})

// Case 24.
describe('a backfill', () => {
  const [from, to] = [new Date('2027-01-01T09:00:00Z'), new Date('2027-01-01T10:00:00Z')]

  beforeEach(async () => {
    await scheduling.stopClockAt('2027-01-01T09:29:00Z')
    await scheduling.schedule({ cron: '*/10 * * * *', catchUp: 'none' })
    await scheduling.passAt('2027-01-01T09:30:00Z')
    await scheduling.passAt('2027-01-01T10:04:30Z')
  })

  it('fills the holes, now', async () => {
    expect(await backfillSchedule(scheduling.pool, 'tick', from, to)).toBe(6)
    expect(await scheduling.enqueued()).toEqual([
      '01-01T09:00 backfill',
      '01-01T09:10 backfill',
      '01-01T09:20 backfill',
      '01-01T09:30 schedule',
      '01-01T09:40 backfill',
      '01-01T09:50 backfill',
      '01-01T10:00 backfill',
    ])
    expect(await tasks()).toEqual([
      '01-01T09:30 schedule',
      ...Array.from({ length: 6 }, () => '01-01T10:04:30 backfill'),
    ])
    expect(await rowsOf(scheduling.pool, 'select occurrence_at from tasks.tick order by id')).toEqual(
      ['09:30', '09:00', '09:10', '09:20', '09:40', '09:50', '10:00'].map((time) => ({
        occurrence_at: new Date(`2027-01-01T${time}:00Z`),
      })),
    )
    expect(await backfillSchedule(scheduling.pool, 'tick', from, to)).toBe(0)
    expect(await scheduling.row()).toMatchObject({ runs: '1' })
  })

  it('may reach ahead: what it enqueued is due at its time and not enqueued again', async () => {
    await backfillSchedule(scheduling.pool, 'tick', new Date('2027-01-01T10:10:00Z'), new Date('2027-01-01T10:15:00Z'))
    expect((await tasks()).at(-1)).toBe('01-01T10:10 backfill')
    await scheduling.passAt('2027-01-01T10:10:00Z')
    expect((await scheduling.enqueued()).at(-1)).toBe('01-01T10:10 backfill')
    expect(await scheduling.nextAt()).toBe('01-01T10:20')
  })

  it('does not ask the overlap rule', async () => {
    await scheduling.schedule({ cron: '*/10 * * * *', catchUp: 'none', overlap: 'skip' })
    expect(await backfillSchedule(scheduling.pool, 'tick', from, to)).toBe(6)
  })

  it('by SQL takes the instants, fills holes too, and refuses what is none', async () => {
    const call = `select tasks.backfill_schedule('tick', array(
      select generate_series('2027-01-01 09:00+00'::timestamptz, '2027-01-01 10:00+00', '10 min')))`
    expect(await scalarOf(scheduling.pool, call)).toBe(6)
    expect(await scalarOf(scheduling.pool, call)).toBe(0)
    expect(await scalarOf(scheduling.pool, `select tasks.backfill_schedule('tick', '{}')`)).toBe(0)
    for (const occurrences of ['null', `'{null}'`, `'{infinity}'`]) {
      expect(
        await refusalOf(scheduling.pool.query(`select tasks.backfill_schedule('tick', ${occurrences})`)),
      ).toMatchObject({ code: 'TQ003' })
    }
  })

  it('of too many occurrences at once is refused, with where to go on', async () => {
    await scheduling.schedule({ key: 'seconds', cron: '* * * * * *' })
    await expect(backfillSchedule(scheduling.pool, 'seconds', new Date('2026-12-01'), to)).rejects.toThrow(
      'gives more than 10000 occurrences; go on from 2026-12-01T02:46:40.000Z',
    )
    await expect(backfillSchedule(scheduling.pool, 'seconds', to, from)).rejects.toMatchObject({ option: 'to' })
    await expect(backfillSchedule(scheduling.pool, 'nothing', from, to)).rejects.toBeInstanceOf(ScheduleNotFoundError)
  })
})

describe('a preview', () => {
  it.each([
    { name: 'of a planned schedule', options: {}, occurrences: ['01-02T08:00', '01-03T08:00', '01-04T08:00'] },
    {
      name: 'of one that ends',
      options: { endsAt: new Date('2027-01-03T08:00:00Z') },
      occurrences: ['01-02T08:00', '01-03T08:00'],
    },
    { name: 'of one that may run once', options: { maxRuns: 1 }, occurrences: ['01-02T08:00'] },
    { name: 'of one that has ended', options: { endsAt: new Date('2027-01-01T08:00:00Z') }, occurrences: [] },
  ])('$name', async ({ options, occurrences }) => {
    await scheduling.schedule({ cron: '0 9 * * *', timezone: 'Europe/Berlin', ...options })
    expect((await previewSchedule(scheduling.pool, 'tick', 3)).map(short)).toEqual(occurrences)
  })

  it.each([
    { options: { cron: '0 9 * * *', timezone: 'Europe/Berlin' }, occurrences: ['03-28T07:00', '03-29T07:00'] },
    { options: { everyMs: 3_600_000 }, occurrences: ['03-28T02:30', '03-28T03:30'] },
    { options: { everyMs: 3_600_000, anchor: new Date(0) }, occurrences: ['03-28T02:00', '03-28T03:00'] },
  ])('of one that is nowhere stored: $options', ({ options, occurrences }) => {
    expect(previewOccurrences(options, 2, new Date('2027-03-28T01:30:00Z')).map(short)).toEqual(occurrences)
    expect(() => previewOccurrences({ cron: '60 * * * *' }, 2, new Date())).toThrow('minute field')
  })

  it('of one that no worker has planned, and of none', async () => {
    await scheduling.pool.query(
      `select tasks.schedule('tick', 'tasks', 'tick', cron => '0 9 * * *', columns => '{"note": ""}')`,
    )
    expect((await previewSchedule(scheduling.pool, 'tick', 1)).map(short)).toEqual(['01-02T09:00'])
    await expect(previewSchedule(scheduling.pool, 'nothing', 1)).rejects.toBeInstanceOf(ScheduleNotFoundError)
  })
})

describe('the list of schedules', () => {
  it('tells what is written, how it stands, how late and what was dropped', async () => {
    await scheduling.schedule({
      cron: '0 * * * *',
      timezone: 'Europe/Berlin',
      jitterMs: 1_001,
      graceMs: 1_001,
      catchUp: 'none',
    })
    await scheduling.pool.query(
      `select tasks.schedule('sql', 'tasks', 'tick', every => '90 s', columns => '{"note": "x"}')`,
    )
    await pauseSchedule(scheduling.pool, 'sql', 'holidays')
    await scheduling.passAt('2027-01-01T12:00:00.700Z')
    await scheduling.stopClockAt('2027-01-01T13:00:01Z')
    expect(await listSchedules(scheduling.pool)).toMatchObject([
      {
        key: 'sql',
        everyMs: 90_000,
        cron: null,
        origin: 'api',
        state: 'paused',
        pausedReason: 'holidays',
        pausedAt: new Date('2027-01-01T10:04:30Z'),
        lagMs: null,
      },
      {
        key: 'tick',
        schema: 'tasks',
        table: 'tick',
        columns: { note: 'tick' },
        cron: '0 * * * *',
        everyMs: null,
        timezone: 'Europe/Berlin',
        jitterMs: 1_001,
        graceMs: 1_001,
        catchUp: 'none',
        catchUpWindowMs: 3_600_000,
        origin: 'api',
        state: 'active',
        nextAt: new Date('2027-01-01T13:00:00Z'),
        lastAt: new Date('2027-01-01T12:00:00Z'),
        lagMs: 700,
        runs: 1,
        dropped: 1,
        lastError: null,
      },
    ])
    expect(
      await rowsOf(
        scheduling.pool,
        `select key, table_name, state, overdue::text, lag::text, dropped, runs from tasks.schedule_stats where key = 'tick'`,
      ),
    ).toEqual([
      {
        key: 'tick',
        table_name: 'tasks.tick',
        state: 'active',
        overdue: '00:00:01',
        lag: '00:00:00.7',
        dropped: '1',
        runs: '1',
      },
    ])
  })
})
