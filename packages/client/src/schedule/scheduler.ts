import {
  type DueSchedule,
  dueSchedules,
  type FiringResult,
  fireSchedules,
  nextScheduleIn,
  planSchedules,
  type Queryable,
  type SchedulePlan,
  schedulesToReplan,
} from '@pg-tasks/sql'
import { Backoff } from '../backoff/backoff.js'
import { describeThrown } from '../errors/describe-thrown.js'
import type { FailureLog } from '../logger/failure-log.js'
import { Gate } from '../timers/gate.js'
import { sleep } from '../timers/sleep.js'
import { checkCron } from './cron.js'
import { firstOccurrence } from './occurrences.js'
import { planOccurrences, replanNextAt } from './plan.js'
import { tzdataVersion } from './timezone.js'

/** Schedules of one pass, and so of one short transaction. */
const SCHEDULES_PER_PASS = 100

/** Longest sleep, in milliseconds: behind every lost notification stands a look. */
const LONGEST_SLEEP_MS = 60_000

/** A session on which a short transaction can be run. */
export interface SchedulerSession extends Queryable {
  transaction<Value>(work: (session: Queryable) => Promise<Value>): Promise<Value>
}

/** What a scheduler tells. */
export interface SchedulerListener {
  readonly onFired: (schedule: { readonly key: string; readonly enqueued: number; readonly dropped: number }) => void
  /** A schedule was paused because it can't be planned or its task can't be enqueued. */
  readonly onRefused: (schedule: { readonly key: string; readonly error: string }) => void
}

/**
 * Turns occurrences of schedules into tasks. Any number of schedulers may run, none leads: who comes too late finds the
 * watermark moved. It computes; what is due and what was handled, the database knows.
 */
export class Scheduler {
  readonly #session: SchedulerSession
  readonly #failures: FailureLog
  readonly #listener: SchedulerListener
  readonly #gate = new Gate()
  readonly #stopping = new AbortController()
  readonly #errors = new Backoff({ baseMs: 200, maxMs: 10_000 })
  #running: Promise<void> = Promise.resolve()
  #replanned = false

  constructor(session: SchedulerSession, failures: FailureLog, listener: SchedulerListener) {
    this.#session = session
    this.#failures = failures
    this.#listener = listener
  }

  start(): void {
    this.#running = this.#run()
  }

  /** A schedule was written or resumed, or notifications were missed. */
  wake(): void {
    this.#gate.wake()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const more = await this.#pass()
        this.#errors.reset()
        this.#failures.recovered('schedules', 'Schedules are handled again')
        if (more) continue
        const inMs = await nextScheduleIn(this.#session)
        // A little late rather than early: an early look finds nothing and asks again.
        await this.#gate.wait(Math.min(inMs === null ? LONGEST_SLEEP_MS : Math.ceil(inMs), LONGEST_SLEEP_MS), {
          signal,
        })
      } catch (error) {
        this.#failures.failed(
          'schedules',
          { error: describeThrown(error) },
          'Schedules could not be handled; trying again',
        )
        await sleep(this.#errors.next(), { signal })
      }
    }
  }

  /** @returns whether there may be more that is due */
  async #pass(): Promise<boolean> {
    const tzdata = tzdataVersion()
    if (!this.#replanned) {
      await this.#replan(tzdata)
      this.#replanned = true
    }
    const dropped = new Map<string, number>()
    const { fired, refused, more } = await this.#session.transaction(async (session) => {
      const due = await dueSchedules(session, SCHEDULES_PER_PASS)
      const plans = due.filter((schedule) => !schedule.planned).map(firstPlan)
      const firings = []
      let capped = false
      for (const schedule of due.filter((one) => one.planned)) {
        try {
          const plan = planOccurrences(schedule, schedule.now)
          capped ||= plan.capped
          dropped.set(schedule.key, plan.droppedCount)
          const { key, revision } = schedule
          const expected = schedule.nextAt as Date
          firings.push({
            key,
            revision,
            expected,
            nextAt: plan.nextAt,
            occurrences: plan.due,
            dropped: plan.droppedCount,
          })
        } catch (error) {
          // One that was written by hand and can't be used is set aside; the others go on.
          plans.push(refusedPlan(schedule, error))
        }
      }
      await planSchedules(session, plans, tzdata)
      const results = await fireSchedules(session, firings, tzdata)
      return {
        fired: results,
        refused: plans.filter((plan) => plan.error !== null),
        more: capped || plans.length > 0 || due.length >= SCHEDULES_PER_PASS,
      }
    })
    this.#report(fired, refused, dropped)
    return more
  }

  /** New rules of the time zones move what is still ahead; what was due already stays due. */
  async #replan(tzdata: string): Promise<void> {
    await this.#session.transaction(async (session) => {
      const stale = await schedulesToReplan(session, tzdata)
      const plans = stale.map((schedule): SchedulePlan => {
        try {
          const { key, revision } = schedule
          return { key, revision, nextAt: replanNextAt(schedule, schedule.now), error: null }
        } catch (error) {
          return refusedPlan(schedule, error)
        }
      })
      await planSchedules(session, plans, tzdata)
    })
  }

  #report(
    fired: readonly FiringResult[],
    refused: readonly SchedulePlan[],
    dropped: ReadonlyMap<string, number>,
  ): void {
    for (const { key, enqueued, error } of fired) {
      if (error !== null) this.#listener.onRefused({ key, error })
      else if (enqueued !== null) this.#listener.onFired({ key, enqueued, dropped: dropped.get(key) ?? 0 })
    }
    for (const { key, error } of refused) this.#listener.onRefused({ key, error: error ?? '' })
  }
}

/** From now on: never in the past. */
function firstPlan(schedule: DueSchedule): SchedulePlan {
  try {
    const { key, revision, now, cron, timezone } = schedule
    if (cron !== null) checkCron(cron, timezone)
    return { key, revision, nextAt: firstOccurrence(schedule, now), error: null }
  } catch (error) {
    return refusedPlan(schedule, error)
  }
}

function refusedPlan({ key, revision }: DueSchedule, error: unknown): SchedulePlan {
  return { key, revision, nextAt: null, error: error instanceof Error ? error.message : describeThrown(error) }
}
