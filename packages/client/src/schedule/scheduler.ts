import { type DueSchedule, dueSchedules, nextScheduleIn, type Queryable } from '@pg-tasks/sql'
import { Backoff } from '../backoff/backoff.js'
import { describeThrown } from '../errors/describe-thrown.js'
import type { FailureLog } from '../logger/failure-log.js'
import { Gate } from '../timers/gate.js'
import { sleep } from '../timers/sleep.js'
import { handleSchedules, type PassResult } from './handle-schedules.js'
import { Postponed } from './postponed.js'
import { replanSchedules } from './replan-schedules.js'
import { tzdataVersion } from './timezone.js'

/** Schedules of one pass, and so of one short transaction. Each is a savepoint; PostgreSQL keeps track of 64 cheaply. */
const SCHEDULES_PER_PASS = 60

/** Tasks of one pass, and of one that takes a single schedule because a larger one failed. */
const TASKS_PER_PASS = 1_000
const TASKS_OF_SINGLE = 20

/** How often next occurrences are compared with the rules of the zones, in milliseconds: another worker may know newer ones. */
const REPLAN_EVERY_MS = 3_600_000
const REPLAN_AGAIN_MS = 30_000

/** The wait when something is due and another scheduler holds it, or an open transaction. */
const HELD = { baseMs: 5, maxMs: 1_000 }

/** A session on which a short transaction can be run. */
export interface SchedulerSession extends Queryable {
  transaction<Value>(work: (session: Queryable) => Promise<Value>): Promise<Value>
}

/** What a scheduler tells. */
export interface SchedulerListener {
  readonly onFired: (schedule: { readonly key: string; readonly enqueued: number; readonly dropped: number }) => void
  /** A schedule was set aside because it can't be planned or its task can't be enqueued. */
  readonly onRefused: (schedule: { readonly key: string; readonly error: string }) => void
}

export interface SchedulerOptions {
  readonly session: SchedulerSession
  readonly failures: FailureLog
  readonly listener: SchedulerListener
  /** Longest sleep, in milliseconds: behind every lost notification stands a look. */
  readonly longestSleepMs: number
}

/**
 * Turns occurrences of schedules into tasks. Any number of schedulers may run, none leads: who comes too late finds the
 * watermark moved. It computes; what is due and what was handled, the database knows.
 */
export class Scheduler {
  readonly #session: SchedulerSession
  readonly #failures: FailureLog
  readonly #listener: SchedulerListener
  readonly #longestSleepMs: number
  readonly #tzdata = tzdataVersion()
  readonly #gate = new Gate()
  readonly #stopping = new AbortController()
  readonly #errors = new Backoff({ baseMs: 200, maxMs: 10_000 })
  readonly #held = new Backoff(HELD)
  readonly #postponed = new Postponed()
  /** So many passes take one schedule and few tasks each, to find the schedule by which a pass failed. */
  #singly = 0
  /** Never where the zones of this process are unknown: there is nothing to compare. */
  #replanAt = this.#tzdata === null ? Number.POSITIVE_INFINITY : 0
  #running: Promise<void> = Promise.resolve()

  constructor({ session, failures, listener, longestSleepMs }: SchedulerOptions) {
    this.#session = session
    this.#failures = failures
    this.#listener = listener
    this.#longestSleepMs = longestSleepMs
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
        await this.#replan()
        const { more, handled } = await this.#pass()
        this.#errors.reset()
        this.#failures.recovered('schedules', 'Schedules are handled again')
        if (!more) await this.#gate.wait(await this.#idleMs(handled), { signal })
      } catch (error) {
        if (signal.aborted) return
        this.#failures.failed(
          'schedules',
          { error: describeThrown(error) },
          'Schedules could not be handled; trying again',
        )
        await sleep(this.#errors.next(), { signal })
      }
    }
  }

  async #pass(): Promise<PassResult> {
    const single = this.#singly > 0
    const limit = single ? 1 : SCHEDULES_PER_PASS
    const mostTasks = single ? TASKS_OF_SINGLE : TASKS_PER_PASS
    let due: readonly DueSchedule[] = []
    let result: PassResult
    try {
      result = await this.#session.transaction(async (session) => {
        due = await dueSchedules(session, limit, this.#postponed.keys())
        return handleSchedules(session, due, { mostTasks, tzdata: this.#tzdata })
      })
    } catch (error) {
      // A table of a user's may make a statement hang or a commit fail. Whose it was shows when each is taken alone.
      if (!single) this.#singly = due.length
      else for (const { key } of due) this.#postponed.add(key, 'pass')
      throw error
    }
    this.#report(result)
    if (!single) return { ...result, more: result.more || due.length >= limit }
    this.#singly = due.length === 0 ? 0 : this.#singly - 1
    return { ...result, more: true }
  }

  async #idleMs(handled: boolean): Promise<number> {
    const inMs = await nextScheduleIn(this.#session, this.#postponed.keys())
    if (handled || inMs === null || inMs > 0) this.#held.reset()
    const heldMs = handled || inMs !== 0 ? 0 : this.#held.next()
    // A little late rather than early: an early look finds nothing and asks again.
    const dueMs = inMs === null ? Infinity : Math.max(Math.ceil(inMs), heldMs)
    return Math.min(dueMs, this.#postponed.nextInMs(), this.#replanAt - performance.now(), this.#longestSleepMs)
  }

  /** What goes wrong here doesn't keep schedules that are due waiting. */
  async #replan(): Promise<void> {
    if (this.#tzdata === null || performance.now() < this.#replanAt) return
    try {
      const refused = await replanSchedules(this.#session, this.#tzdata, this.#stopping.signal)
      for (const schedule of refused) this.#listener.onRefused(schedule)
      this.#replanAt = performance.now() + REPLAN_EVERY_MS
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#failures.failed('zones', { error: describeThrown(error) }, 'Schedules could not be planned anew')
      this.#replanAt = performance.now() + REPLAN_AGAIN_MS
    }
  }

  #report({ fired, failed, refused }: PassResult): void {
    for (const schedule of fired) {
      this.#postponed.delete(schedule.key)
      this.#failures.recovered(`schedule ${schedule.key}`, 'A schedule is handled again')
      this.#listener.onFired(schedule)
    }
    for (const schedule of failed) {
      this.#postponed.add(schedule.key, 'schedule')
      this.#failures.failed(
        `schedule ${schedule.key}`,
        { ...schedule },
        'A task of a schedule could not be enqueued; trying again',
      )
    }
    for (const schedule of refused) {
      this.#postponed.delete(schedule.key)
      this.#listener.onRefused(schedule)
    }
  }
}
