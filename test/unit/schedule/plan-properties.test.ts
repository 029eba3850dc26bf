import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { occurrencesBetween } from '../../../packages/client/src/schedule/occurrences.js'
import { planOccurrences, type ScheduleState } from '../../../packages/client/src/schedule/plan.js'
import { resolveScheduleTiming } from '../../../packages/client/src/schedule/timing.js'
import { afterPass, DAY, HOUR, MINUTE } from './schedule-state.js'

const START = Date.parse('2027-03-27T18:00Z')

const cadence = fc.constantFrom(
  { cron: '*/7 * * * *', timezone: 'Europe/Berlin' },
  { cron: '30 2,14 * * *', timezone: 'Europe/Berlin' },
  { cron: '30 23 * * *', timezone: 'America/Nuuk' },
  { cron: '*/20 * * * * *', timezone: 'UTC' },
  { everyMs: 90_000, anchor: new Date(START + 1234) },
  { everyMs: HOUR, anchor: new Date(START - DAY) },
)

const schedules = fc
  .record({
    cadence,
    catchUp: fc.constantFrom('none', 'latest', 'all'),
    catchUpWindowMs: fc.integer({ min: 0, max: 3 * HOUR }),
    graceMs: fc.integer({ min: 0, max: 10 * MINUTE }),
    endsAt: fc.option(fc.integer({ min: 0, max: 12 * HOUR }).map((ms) => new Date(START + ms))),
    maxRuns: fc.option(fc.integer({ min: 1, max: 200 })),
  })
  .map(({ cadence, ...options }) => resolveScheduleTiming({ ...cadence, ...options }))
  .map((timing) => ({ ...timing, runs: 0, nextAt: allBetween(timing, START, START + 2 * DAY)[0] ?? null }))

/** When passes take place, in milliseconds after the one before: mostly on time, now and then after hours. */
const pauses = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 * MINUTE }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 * HOUR }) },
  ),
  { minLength: 1, maxLength: 8 },
)

const limits = { maxDue: 17, maxCounted: 100_000 }

function allBetween(timing: Parameters<typeof occurrencesBetween>[0], from: number, to: number): Date[] {
  return [...occurrencesBetween(timing, new Date(from), new Date(to), 100_000).occurrences]
}

/** The policy as the documentation words it, applied to a backlog that is written out. */
function expectedDue(schedule: ScheduleState, now: number): number[] {
  if (schedule.nextAt === null) return []
  const backlog = allBetween(schedule, schedule.nextAt.getTime(), Math.max(now, schedule.nextAt.getTime()))
    .map(Number)
    .filter((occurrence) => occurrence <= now)
  const late = (occurrence: number) => now - occurrence
  const onTime = backlog.filter((occurrence) => late(occurrence) < schedule.graceMs)
  const missed = backlog.filter((occurrence) => late(occurrence) >= schedule.graceMs)
  const recent = missed.filter((occurrence) => late(occurrence) <= schedule.catchUpWindowMs)
  const madeUp = {
    none: [],
    latest: onTime.length > 0 ? [] : missed.slice(-1).filter((occurrence) => recent.includes(occurrence)),
    all: recent,
  }[schedule.catchUp]
  const left = schedule.maxRuns === null ? Infinity : schedule.maxRuns - schedule.runs
  return [...madeUp, ...onTime].slice(0, Math.min(left, limits.maxDue))
}

describe('planOccurrences', () => {
  it('hands over what the policy says, pass after pass', () => {
    fc.assert(
      fc.property(schedules, pauses, (stored, between) => {
        let schedule: ScheduleState = stored
        let now = START
        for (const pause of between) {
          now += pause
          const plan = planOccurrences(schedule, new Date(now), limits)
          expect(plan.due.map(({ occurrenceAt }) => occurrenceAt.getTime())).toEqual(expectedDue(schedule, now))
          for (const { occurrenceAt, trigger } of plan.due) {
            expect(trigger).toBe(now - occurrenceAt.getTime() < schedule.graceMs ? 'schedule' : 'catchup')
          }
          schedule = afterPass(schedule, plan)
        }
      }),
      { numRuns: 80, seed: 2027 },
    )
  })

  it('hands over or drops every occurrence exactly once, in order', () => {
    fc.assert(
      fc.property(schedules, pauses, (stored, between) => {
        let schedule: ScheduleState = stored
        let now = START
        const accounted: number[] = []
        for (const pause of between) {
          now += pause
          const plan = planOccurrences(schedule, new Date(now), limits)
          if (plan.droppedFrom !== null && plan.droppedTo !== null) {
            const dropped = allBetween(schedule, plan.droppedFrom.getTime(), plan.droppedTo.getTime()).map(Number)
            expect(dropped).toHaveLength(plan.droppedCount)
            accounted.push(...dropped)
          }
          accounted.push(...plan.due.map(({ occurrenceAt }) => occurrenceAt.getTime()))
          expect(plan.finished).toBe(plan.nextAt === null)
          if (plan.nextAt !== null) expect(plan.nextAt.getTime() > now).toBe(!plan.capped)
          schedule = afterPass(schedule, plan)
        }
        const until = schedule.nextAt?.getTime() ?? accounted.at(-1) ?? START
        const all = allBetween(stored, START, Math.max(now, until)).map(Number)
        expect(accounted).toEqual(all.slice(0, accounted.length))
        if (schedule.nextAt !== null) expect(all[accounted.length] ?? schedule.nextAt.getTime()).toBe(until)
      }),
      { numRuns: 80, seed: 4154 },
    )
  })
})
