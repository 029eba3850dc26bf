import { type ScheduleOptions, schedule } from '@pg-tasks/client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { refusalOf } from '../sql/refusal-of.js'
import { scalarOf } from '../sql/rows-of.js'
import { Scheduling, tick } from './scheduling.js'

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T00:00:00Z')
})

function plainSchedule(settings: string): Promise<string> {
  return scalarOf<string>(
    scheduling.pool,
    `select tasks.schedule('tick', 'tasks', 'tick', columns => '{"note": ""}', ${settings})`,
  )
}

const start = new Date('2027-06-01T00:00:00Z')

// Case 22. What exactly a cron expression is refused for, the unit tests tell.
describe('from TypeScript, before anything is stored, it is refused', () => {
  it.each([
    ['cron', { cron: '60 * * * *' }],
    ['cron', { cron: '* * 31 2 *' }],
    ['cron', { cron: '' }],
    ['cron', { cron: '* * * *' }],
    ['cron', { cron: '*/0 * * * *' }],
    ['cron', { cron: '5-1 * * * *' }],
    ['cron', { cron: '@reboot' }],
    ['cron', { cron: '2027-05-05T10:00:00' }],
    ['cron', {}],
    ['timezone', { cron: '@daily', timezone: 'UTC+3' }],
    ['timezone', { cron: '@daily', timezone: '+03:00' }],
    ['timezone', { cron: '@daily', timezone: 'Nowhere/X' }],
    ['everyMs', { everyMs: 0 }],
    ['everyMs', { everyMs: 500 }],
    ['everyMs', { everyMs: 60_000, cron: '@daily' }],
    ['endsAt', { cron: '@daily', startsAt: start, endsAt: new Date(0) }],
    ['maxRuns', { cron: '@daily', maxRuns: 0 }],
    ['overlap', { cron: '@daily', overlap: 'cancel_running' }],
    ['catchUp', { cron: '@daily', catchUp: 'some' }],
    ['graceMs', { cron: '@daily', graceMs: -1 }],
    ['everySeconds', { everySeconds: 5 }],
  ])('with the option %s named: %o', async (option, options) => {
    const refusal = schedule(scheduling.pool, tick, { key: 'tick', ...options } as ScheduleOptions, { note: '' })
    await expect(refusal).rejects.toMatchObject({ code: 'INVALID_OPTION', owner: 'Schedule', option })
    expect(await scheduling.row()).toBeUndefined()
  })

  it.each(['', '\u0000', 5])('without a name: %j', async (key) => {
    const refusal = schedule(scheduling.pool, tick, { key: key as string, cron: '@daily' }, { note: '' })
    await expect(refusal).rejects.toMatchObject({ option: 'key' })
  })
})

describe('from psql it is refused', () => {
  it.each([
    [`cron => ''`, 'cron must have five fields'],
    [`cron => '* * * *'`, 'cron must have five fields'],
    [`cron => '@reboot'`, 'cron must have five fields'],
    [`cron => '2027-05-05T10:00:00'`, 'cron must have five fields'],
    [`cron => '0 0 1 1 * * 2027'`, 'cron must have five fields'],
    [`cron => '@daily', every => '1 h'`, 'give cron or every'],
    [`cron => null`, 'give cron or every'],
    [`cron => '@daily', timezone => 'UTC+3'`, 'timezone must be an IANA name'],
    [`cron => '@daily', timezone => '+03:00'`, 'timezone must be an IANA name'],
    [`cron => '@daily', timezone => 'CET'`, 'timezone must be an IANA name'],
    [`cron => '@daily', timezone => 'Nowhere/X'`, 'timezone must be an IANA name'],
    [`cron => '@daily', timezone => null`, 'timezone must be an IANA name'],
    [`every => '0'`, 'every must be a whole number of seconds, at least one'],
    [`every => '500 ms'`, 'every must be a whole number of seconds, at least one'],
    [`every => '1.5 s'`, 'every must be a whole number of seconds, at least one'],
    [`every => '-1 day'`, 'every must be a whole number of seconds, at least one'],
    [`every => '101 years'`, 'every must be at most a hundred years'],
    [`cron => '@daily', anchor => now()`, 'anchor belongs to every'],
    [`every => '1 h', starts_at => '2027-01-02', ends_at => '2027-01-01'`, 'ends_at'],
    [`every => '1 h', starts_at => 'infinity'`, 'must be finite'],
    [`every => '1 h', ends_at => '-infinity'`, 'must be finite'],
    [`every => '1 h', max_runs => 0`, 'max_runs must be at least 1'],
    [`every => '1 h', overlap => 'cancel_running'`, 'overlap must be allow, skip or buffer_one'],
    [`every => '1 h', overlap => null`, 'overlap must be allow, skip or buffer_one'],
    [`every => '1 h', catch_up => 'some'`, 'catch_up must be none, latest or all'],
    [`every => '1 h', grace => null`, 'grace and jitter must not be NULL'],
    [`every => '1 h', jitter => '-1 s'`, 'jitter must not be negative'],
    [`every => '1 h', catch_up_window => '1001 years'`, 'catch_up_window must be at most 1000 years'],
    [`every => '1 h', origin => 'me'`, 'origin must be code or api'],
  ])('with the argument named: %s', async (settings, message) => {
    expect(await refusalOf(plainSchedule(settings))).toMatchObject({
      code: 'TQ003',
      message: expect.stringContaining(`schedule: `),
    })
    expect(await refusalOf(plainSchedule(settings))).toMatchObject({ message: expect.stringContaining(message) })
    expect(await scheduling.row()).toBeUndefined()
  })

  it.each([
    `select tasks.schedule('', 'tasks', 'tick', every => '1 h')`,
    `select tasks.schedule(null, 'tasks', 'tick', every => '1 h')`,
  ])('without a name: %s', async (call) => {
    expect(await refusalOf(scheduling.pool.query(call))).toMatchObject({ code: 'TQ003' })
  })

  it('where the table is no task type', async () => {
    const refusal = scheduling.pool.query(`select tasks.schedule('tick', 'tasks', 'tock', every => '1 h')`)
    expect(await refusalOf(refusal)).toMatchObject({ code: 'TQ004', hint: 'Call tasks.register(schema, table).' })
  })

  it.each(['pause_schedule', 'resume_schedule', 'trigger_schedule'])('where %s finds no schedule', async (verb) => {
    for (const [key, name] of [
      [`'tock'`, `'tock'`],
      ['null', 'NULL'],
    ]) {
      expect(await refusalOf(scheduling.pool.query(`select tasks.${verb}(${key})`))).toMatchObject({
        code: 'TQ009',
        message: `${verb}: there is no schedule ${name}`,
      })
    }
  })
})

describe('a schedule that psql writes', () => {
  it('with an interval is active at once', async () => {
    expect(await plainSchedule(`every => '90 min', anchor => '2026-12-31 23:00+00'`)).toBe('active')
    expect(await scheduling.nextAt()).toBe('01-01T00:30')
  })

  it('with a cron expression is unplanned until a worker has planned it', async () => {
    expect(await plainSchedule(`cron => '@HOURLY', timezone => 'Europe/Berlin'`)).toBe('unplanned')
    expect(await scheduling.nextInMs()).toBe(0)
    await scheduling.pass()
    expect(await scheduling.row()).toMatchObject({ state: 'active' })
    expect(await scheduling.nextAt()).toBe('01-01T01:00')
  })

  it.each([
    [`cron => '60 * * * *'`, 'the minute field is "60"'],
    [`cron => '* * 31 2 *'`, 'never fires'],
    [`cron => '0 0 1 1 1 2027'`, 'the day-of-week field is "2027"'],
  ])('that a worker can not plan is set aside: %s', async (settings, error) => {
    expect(await plainSchedule(settings)).toBe('unplanned')
    const { refused } = await scheduling.pass()
    expect(refused).toEqual([{ key: 'tick', error: expect.stringContaining(error) }])
    expect(await scheduling.row()).toMatchObject({
      state: 'paused',
      paused_reason: `it can't be planned`,
      last_error: expect.stringContaining(error),
    })
    expect(await scheduling.nextInMs()).toBeNull()
    // A better expression is all that it needs.
    expect(await plainSchedule(`cron => '30 0 * * *'`)).toBe('unplanned')
    await scheduling.passAt('2027-01-01T00:30:00Z')
    expect(await scheduling.enqueued()).toEqual(['01-01T00:30 schedule'])
    expect(await scheduling.row()).toMatchObject({ state: 'active', last_error: null, paused_reason: null })
  })
})
