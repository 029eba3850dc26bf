import { describe, expect, it } from 'vitest'
import { tzdataVersion } from '../../../packages/client/src/schedule/timezone.js'
import { resolveScheduleTiming, type ScheduleTimingOptions } from '../../../packages/client/src/schedule/timing.js'

const NEW_YEAR = new Date('2027-01-01T00:00Z')
const LATER = new Date('2027-02-01T00:00Z')

describe('the timing of a schedule', () => {
  it('has defaults for all but the cadence, and is frozen', () => {
    const timing = resolveScheduleTiming({ cron: '0 9 * * *' })
    expect(timing).toEqual({
      cron: '0 9 * * *',
      everyMs: null,
      timezone: 'UTC',
      anchor: null,
      startsAt: null,
      endsAt: null,
      maxRuns: null,
      catchUp: 'latest',
      catchUpWindowMs: 3_600_000,
      graceMs: 60_000,
      jitterMs: 0,
    })
    expect(Object.isFrozen(timing)).toBe(true)
  })

  it('anchors an interval at its start unless told otherwise', () => {
    expect(resolveScheduleTiming({ everyMs: 1000 }).anchor).toBeNull()
    expect(resolveScheduleTiming({ everyMs: 1000, startsAt: NEW_YEAR }).anchor).toEqual(NEW_YEAR)
    expect(resolveScheduleTiming({ everyMs: 1000, startsAt: NEW_YEAR, anchor: LATER }).anchor).toEqual(LATER)
    expect(resolveScheduleTiming({ cron: '0 9 * * *', startsAt: NEW_YEAR }).anchor).toBeNull()
  })

  it('may start and end at the same instant', () => {
    expect(() => resolveScheduleTiming({ cron: '* * * * *', startsAt: NEW_YEAR, endsAt: NEW_YEAR })).not.toThrow()
  })

  const cron = '* * * * *'
  it.each<[string, Record<string, unknown>]>([
    ['cron', {}],
    ['cron', { cron: '60 * * * *' }],
    ['cron', { cron: '* * 31 2 *' }],
    ['everyMs', { cron, everyMs: 1000 }],
    ['everyMs', { everyMs: 0 }],
    ['everyMs', { everyMs: 500 }],
    ['everyMs', { everyMs: 1500 }],
    ['timezone', { cron, timezone: 'UTC+3' }],
    ['timezone', { everyMs: 1000, timezone: 'Nowhere/X' }],
    ['anchor', { cron, anchor: NEW_YEAR }],
    ['anchor', { everyMs: 1000, anchor: '2027-01-01' }],
    ['startsAt', { cron, startsAt: new Date('never') }],
    ['endsAt', { cron, endsAt: 5 }],
    ['endsAt', { cron, startsAt: LATER, endsAt: NEW_YEAR }],
    ['maxRuns', { cron, maxRuns: 0 }],
    ['maxRuns', { cron, maxRuns: 1.5 }],
    ['catchUp', { cron, catchUp: 'some' }],
    ['catchUpWindowMs', { cron, catchUpWindowMs: -1 }],
    ['graceMs', { cron, graceMs: Number.NaN }],
    ['jitterMs', { cron, jitterMs: '5' }],
  ])('is refused with the option %s named: %o', (option, options) => {
    expect(() => resolveScheduleTiming(options as ScheduleTimingOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', owner: 'Schedule', option }),
    )
  })

  it('is computed with a known release of the time zone database', () => {
    expect(tzdataVersion()).toMatch(/^20\d\d[a-z]$/)
  })
})
