import { describe, expect, it } from 'vitest'
import { planOccurrences, replanNextAt } from '../../../packages/client/src/schedule/plan.js'
import { afterPass, DAY, HOUR, MINUTE, scheduleDueSince, summaryOf } from './schedule-state.js'

const at = (iso: string) => new Date(iso)

describe('a schedule that is not due', () => {
  const schedule = scheduleDueSince('2027-01-01T17:06Z', { cron: '* * * * *' })

  it('keeps its watermark', () => {
    expect(planOccurrences(schedule, at('2027-01-01T17:05:59.999Z'))).toEqual({
      due: [],
      droppedCount: 0,
      droppedMore: false,
      droppedFrom: null,
      droppedTo: null,
      nextAt: at('2027-01-01T17:06Z'),
      finished: false,
      capped: false,
    })
  })

  it('is not due a second time when the clock is put back by five minutes', () => {
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T17:00:30Z')))).toEqual({
      due: [],
      dropped: null,
      nextAt: '2027-01-01T17:06Z',
    })
  })

  it('is due at the very millisecond', () => {
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T17:06Z')))).toEqual({
      due: ['2027-01-01T17:06Z schedule'],
      dropped: null,
      nextAt: '2027-01-01T17:07Z',
    })
  })
})

describe('a schedule that nobody served for three minutes', () => {
  const now = at('2027-01-01T13:03:10Z')
  const minutely = { cron: '* * * * *' } as const
  const due = '2027-01-01T13:00Z'

  it('makes up for all', () => {
    expect(summaryOf(planOccurrences(scheduleDueSince(due, { ...minutely, catchUp: 'all' }), now))).toEqual({
      due: [
        ...['2027-01-01T13:00Z catchup', '2027-01-01T13:01Z catchup', '2027-01-01T13:02Z catchup'],
        '2027-01-01T13:03Z schedule',
      ],
      dropped: null,
      nextAt: '2027-01-01T13:04Z',
    })
  })

  it('runs the latest only', () => {
    expect(summaryOf(planOccurrences(scheduleDueSince(due, { ...minutely, catchUp: 'latest' }), now))).toEqual({
      due: ['2027-01-01T13:03Z schedule'],
      dropped: '3: 2027-01-01T13:00Z … 2027-01-01T13:02Z',
      nextAt: '2027-01-01T13:04Z',
    })
  })

  it('runs the latest although it was missed itself', () => {
    const schedule = scheduleDueSince(due, { ...minutely, catchUp: 'latest', graceMs: 5000 })
    expect(summaryOf(planOccurrences(schedule, now))).toEqual({
      due: ['2027-01-01T13:03Z catchup'],
      dropped: '3: 2027-01-01T13:00Z … 2027-01-01T13:02Z',
      nextAt: '2027-01-01T13:04Z',
    })
  })

  it('makes up for nothing, but runs what is within the grace', () => {
    expect(summaryOf(planOccurrences(scheduleDueSince(due, { ...minutely, catchUp: 'none' }), now))).toEqual({
      due: ['2027-01-01T13:03Z schedule'],
      dropped: '3: 2027-01-01T13:00Z … 2027-01-01T13:02Z',
      nextAt: '2027-01-01T13:04Z',
    })
  })

  it('makes up for nothing and reports all as dropped when the grace is over', () => {
    const schedule = scheduleDueSince(due, { ...minutely, catchUp: 'none', graceMs: 5000 })
    expect(summaryOf(planOccurrences(schedule, now))).toEqual({
      due: [],
      dropped: '4: 2027-01-01T13:00Z … 2027-01-01T13:03Z',
      nextAt: '2027-01-01T13:04Z',
    })
  })
})

describe('the grace', () => {
  it.each(['none', 'latest', 'all'] as const)('keeps every occurrence of a late pass under "%s"', (catchUp) => {
    const schedule = scheduleDueSince('2027-01-01T10:00:01Z', { cron: '* * * * * *', catchUp })
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T10:00:03.400Z')))).toEqual({
      due: ['2027-01-01T10:00:01Z schedule', '2027-01-01T10:00:02Z schedule', '2027-01-01T10:00:03Z schedule'],
      dropped: null,
      nextAt: '2027-01-01T10:00:04Z',
    })
  })

  it('is over when an occurrence is exactly that late', () => {
    const schedule = scheduleDueSince('2027-01-01T10:00Z', { cron: '0 * * * *', catchUp: 'none', graceMs: MINUTE })
    expect(planOccurrences(schedule, at('2027-01-01T10:00:59.999Z')).due).toHaveLength(1)
    expect(planOccurrences(schedule, at('2027-01-01T10:01Z')).due).toHaveLength(0)
  })

  it('holds also where the window is shorter', () => {
    const schedule = scheduleDueSince('2027-01-01T10:00Z', {
      ...{ cron: '* * * * *', catchUp: 'all', catchUpWindowMs: 0, graceMs: 2 * MINUTE },
    })
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T10:03Z'))).due).toEqual([
      '2027-01-01T10:02Z schedule',
      '2027-01-01T10:03Z schedule',
    ])
  })
})

describe('the window', () => {
  it('bounds how far back missed occurrences are made up for', () => {
    const schedule = scheduleDueSince('2027-01-01T13:00Z', {
      ...{ cron: '*/10 * * * *', catchUp: 'all', catchUpWindowMs: 15 * MINUTE },
    })
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T14:30:00.100Z')))).toEqual({
      due: ['2027-01-01T14:20Z catchup', '2027-01-01T14:30Z schedule'],
      dropped: '8: 2027-01-01T13:00Z … 2027-01-01T14:10Z',
      nextAt: '2027-01-01T14:40Z',
    })
  })

  it('includes an occurrence exactly as old as itself', () => {
    const schedule = scheduleDueSince('2027-01-01T02:00Z', { cron: '0 2 * * *', catchUpWindowMs: HOUR })
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T03:00Z'))).due).toEqual(['2027-01-01T02:00Z catchup'])
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T03:00:00.001Z')))).toEqual({
      due: [],
      dropped: '1: 2027-01-01T02:00Z … 2027-01-01T02:00Z',
      nextAt: '2027-01-02T02:00Z',
    })
  })
})

describe('a huge backlog', () => {
  const everySecond = { cron: '* * * * * *', catchUp: 'all', catchUpWindowMs: DAY } as const
  const limits = { maxDue: 100, maxCounted: 10 }

  it('is handed over in order, a cap per pass, without a hole or a repetition', () => {
    let schedule = scheduleDueSince('2027-01-01T00:00Z', { ...everySecond, catchUpWindowMs: 2 * DAY })
    const seen: number[] = []
    for (let pass = 0; pass < 5; pass += 1) {
      const plan = planOccurrences(schedule, at('2027-01-02T00:00Z'), limits)
      expect(plan).toMatchObject({ capped: true, finished: false, droppedCount: 0 })
      seen.push(...plan.due.map(({ occurrenceAt }) => occurrenceAt.getTime()))
      schedule = afterPass(schedule, plan)
    }
    const start = Date.parse('2027-01-01T00:00Z')
    expect(seen).toEqual(Array.from({ length: 500 }, (_, second) => start + second * 1000))
    expect(schedule.nextAt).toEqual(at('2027-01-01T00:08:20Z'))
  })

  it('is not capped when the cap is just enough', () => {
    const schedule = scheduleDueSince('2027-01-01T00:00Z', everySecond)
    const plan = planOccurrences(schedule, at('2027-01-01T00:01:39Z'), limits)
    expect(plan.due).toHaveLength(100)
    expect(plan).toMatchObject({ capped: false, nextAt: at('2027-01-01T00:01:40Z') })
  })

  it.each(['none', 'latest', 'all'] as const)('of a year of seconds costs little under "%s"', (catchUp) => {
    const schedule = scheduleDueSince('2026-01-01T00:00Z', { ...everySecond, catchUp, graceMs: 1000 })
    const now = at('2027-01-01T00:00Z')
    const started = performance.now()
    const plan = planOccurrences(schedule, now, limits)
    // Walking the year takes about 25 minutes.
    expect(performance.now() - started).toBeLessThan(2000)

    expect(plan).toMatchObject({ droppedCount: 10, droppedMore: true, droppedFrom: at('2026-01-01T00:00Z') })
    const first = plan.due[0]?.occurrenceAt
    expect(first).toEqual(catchUp === 'all' ? at('2026-12-31T00:00Z') : now)
    expect(plan.droppedTo).toEqual(new Date((first?.getTime() ?? 0) - 1000))
  })

  it('of an interval is counted exactly', () => {
    const schedule = scheduleDueSince('2026-01-01T00:00Z', {
      ...{ everyMs: 1000, anchor: at('2020-01-01T00:00Z'), catchUp: 'latest', graceMs: 1000 },
    })
    const plan = planOccurrences(schedule, at('2027-01-01T00:00Z'), limits)
    expect(plan).toMatchObject({ droppedCount: 365 * 86_400, droppedMore: false })
  })

  it('counts up to the limit and says whether there are more', () => {
    const minutely = { cron: '* * * * *', catchUp: 'none', graceMs: 1000 } as const
    const planAt = (now: string) => planOccurrences(scheduleDueSince('2027-01-01T00:00Z', minutely), at(now), limits)
    expect(planAt('2027-01-01T00:09:30Z')).toMatchObject({ droppedCount: 10, droppedMore: false })
    expect(planAt('2027-01-01T00:10:30Z')).toMatchObject({ droppedCount: 10, droppedMore: true })
  })
})

describe('the end of a schedule', () => {
  const untilNoon = { cron: '0 * * * *', endsAt: at('2027-01-01T12:00Z') } as const

  it('includes an occurrence at endsAt and finishes with it', () => {
    const schedule = scheduleDueSince('2027-01-01T11:00Z', untilNoon)
    const eleven = planOccurrences(schedule, at('2027-01-01T11:00:01Z'))
    expect(eleven).toMatchObject({ nextAt: at('2027-01-01T12:00Z'), finished: false })

    const noon = planOccurrences(afterPass(schedule, eleven), at('2027-01-01T12:00:01Z'))
    expect(summaryOf(noon)).toEqual({ due: ['2027-01-01T12:00Z schedule'], dropped: null, nextAt: null })
    expect(noon.finished).toBe(true)
  })

  it('makes up for what was missed before endsAt, not after', () => {
    const schedule = scheduleDueSince('2027-01-01T11:00Z', { ...untilNoon, catchUp: 'all', catchUpWindowMs: DAY })
    const plan = planOccurrences(schedule, at('2027-01-01T15:30Z'))
    expect(summaryOf(plan)).toEqual({
      due: ['2027-01-01T11:00Z catchup', '2027-01-01T12:00Z catchup'],
      dropped: null,
      nextAt: null,
    })
    expect(plan.finished).toBe(true)
  })

  it('reports what was dropped before endsAt, not after', () => {
    const schedule = scheduleDueSince('2027-01-01T11:00Z', { ...untilNoon, catchUp: 'none' })
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T15:30Z')))).toEqual({
      due: [],
      dropped: '2: 2027-01-01T11:00Z … 2027-01-01T12:00Z',
      nextAt: null,
    })
  })

  it('has come when endsAt was moved before the watermark', () => {
    const schedule = scheduleDueSince('2027-01-01T13:00Z', untilNoon)
    expect(planOccurrences(schedule, at('2027-01-01T10:00Z'))).toMatchObject({ finished: true, nextAt: null })
    expect(planOccurrences(schedule, at('2027-01-01T14:00Z'))).toMatchObject({ due: [], finished: true, nextAt: null })
  })

  it('comes with the last of maxRuns', () => {
    const schedule = scheduleDueSince('2027-01-01T11:00Z', { cron: '0 * * * *', maxRuns: 3 }, 2)
    const plan = planOccurrences(schedule, at('2027-01-01T11:00:01Z'))
    expect(summaryOf(plan)).toEqual({ due: ['2027-01-01T11:00Z schedule'], dropped: null, nextAt: null })
    expect(plan).toMatchObject({ finished: true, capped: false })
  })

  it('does not come before maxRuns is used up', () => {
    const schedule = scheduleDueSince('2027-01-01T11:00Z', { cron: '0 * * * *', maxRuns: 3 }, 1)
    expect(planOccurrences(schedule, at('2027-01-01T11:00:01Z'))).toMatchObject({
      finished: false,
      nextAt: at('2027-01-01T12:00Z'),
    })
  })

  it('cuts a backlog at maxRuns, the earliest first', () => {
    const options = { cron: '0 * * * *', maxRuns: 2, catchUp: 'all', catchUpWindowMs: DAY } as const
    const plan = planOccurrences(scheduleDueSince('2027-01-01T08:00Z', options), at('2027-01-01T12:30Z'))
    expect(summaryOf(plan).due).toEqual(['2027-01-01T08:00Z catchup', '2027-01-01T09:00Z catchup'])
    expect(plan).toMatchObject({ finished: true, nextAt: null, capped: false })
  })

  it('stays when the row is looked at again', () => {
    const usedUp = scheduleDueSince('2027-01-01T11:00Z', { cron: '0 * * * *', maxRuns: 3 }, 3)
    const loweredSince = scheduleDueSince('2027-01-01T11:00Z', { cron: '0 * * * *', maxRuns: 3 }, 5)
    const noWatermark = scheduleDueSince(null, { cron: '0 * * * *' })
    for (const schedule of [usedUp, loweredSince, noWatermark]) {
      for (const now of ['2027-01-01T10:00Z', '2027-01-01T12:00Z']) {
        expect(planOccurrences(schedule, at(now))).toMatchObject({ due: [], finished: true, nextAt: null })
      }
    }
  })
})

describe('an interval', () => {
  const hourly = { everyMs: HOUR, anchor: at('2027-01-01T09:30Z') } as const

  it('stays on its grid when it is handled late', () => {
    const schedule = scheduleDueSince('2027-01-01T10:30Z', hourly)
    expect(summaryOf(planOccurrences(schedule, at('2027-01-01T10:30:40Z')))).toEqual({
      due: ['2027-01-01T10:30Z schedule'],
      dropped: null,
      nextAt: '2027-01-01T11:30Z',
    })
  })

  it('is due once in an hour with five restarts', () => {
    let schedule = scheduleDueSince('2027-01-01T10:30Z', hourly)
    const due: string[] = []
    for (const minute of ['10:31', '10:40', '10:50', '11:05', '11:20']) {
      const plan = planOccurrences(schedule, at(`2027-01-01T${minute}Z`))
      due.push(...summaryOf(plan).due)
      schedule = afterPass(schedule, plan)
    }
    expect(due).toEqual(['2027-01-01T10:30Z catchup'])
    expect(schedule.nextAt).toEqual(at('2027-01-01T11:30Z'))
  })
})

describe('new rules for a time zone', () => {
  const berlin = { cron: '30 2 * * *', timezone: 'Europe/Berlin' } as const

  it('plan what is ahead again', () => {
    // Stored when the zone was thought to be at +02:00 in January.
    const schedule = scheduleDueSince('2027-01-02T00:30Z', berlin)
    expect(replanNextAt(schedule, at('2027-01-01T12:00Z'))).toEqual(at('2027-01-02T01:30Z'))
  })

  it('leave alone what was due already', () => {
    const schedule = scheduleDueSince('2027-01-02T00:30Z', berlin)
    expect(replanNextAt(schedule, at('2027-01-02T00:30Z'))).toEqual(at('2027-01-02T00:30Z'))
  })

  it('run an occurrence at the instant that was promised, and go on by the new rules', () => {
    const schedule = scheduleDueSince('2027-01-02T00:30Z', berlin)
    expect(summaryOf(planOccurrences(schedule, at('2027-01-02T00:45Z')))).toEqual({
      due: ['2027-01-02T00:30Z catchup'],
      dropped: null,
      nextAt: '2027-01-02T01:30Z',
    })
  })

  it('do not wake a finished schedule', () => {
    expect(replanNextAt(scheduleDueSince(null, berlin), at('2027-01-01T12:00Z'))).toBeNull()
  })
})

describe('a row that was written by hand', () => {
  it.each([
    ['timezone', { timezone: 'Nowhere/X' }],
    ['cron', { cron: '60 * * * *' }],
    ['everyMs', { cron: null, everyMs: 0 }],
    ['anchor', { cron: null, everyMs: 1000, anchor: null }],
  ])('is refused with the option %s named', (option, fields) => {
    const schedule = { ...scheduleDueSince('2027-01-01T00:00Z', { cron: '* * * * *' }), ...fields }
    expect(() => planOccurrences(schedule, at('2027-01-01T00:00Z'))).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option }),
    )
  })
})
