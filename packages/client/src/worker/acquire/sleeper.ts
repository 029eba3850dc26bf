import { fallAsleep, nothingInFlight, stayAwake, stopAwake, type TypeDescription, wakeUp } from '@pg-tasks/sql'
import type { WorkerSession } from '../worker-session.js'

/** Shortest and longest wait for transactions that enqueued before the worker fell asleep, in milliseconds. */
const SHORTEST_QUIET_MS = 10
const LONGEST_QUIET_MS = 1_000

/** One of the busy workers holds the promise for all; the others ask again after this time, in milliseconds. */
const ASK_AGAIN_MS = 500

/** What to do before the worker may sleep. */
export type SleepStep =
  /** Acquire once more: something may have come while the promise was changed. */
  | { readonly kind: 'look' }
  /** Somebody who enqueued earlier has not committed yet: look again after this time. */
  | { readonly kind: 'wait'; readonly delayMs: number }
  /** Every commit from now on notifies. */
  | { readonly kind: 'sleep' }

/** A lock that a session took for a table; another session, or the table made anew, doesn't have it. */
interface HeldLock {
  readonly session: number
  readonly tableId: string
}

/**
 * The worker's side of the wake-up protocol (migration 0002) for one task type: who sleeps says so before the last look, and
 * who promises to look needs no notification. The promises are locks of a session; they end with it.
 */
export class Sleeper {
  readonly #session: WorkerSession
  readonly #listening: () => boolean
  #asleep: HeldLock | undefined
  #awake: HeldLock | undefined
  #quiet = false
  #quietWaitMs = SHORTEST_QUIET_MS
  #askAgainAt = 0

  constructor(session: WorkerSession, listening: () => boolean) {
    this.#session = session
    this.#listening = listening
  }

  /** Whether commits notify this worker. */
  get asleep(): boolean {
    return this.#holds(this.#asleep)
  }

  /** Takes one step towards sleep. Without notifications there is nothing to arrange: the poll finds tasks. */
  async step(type: TypeDescription): Promise<SleepStep> {
    if (!type.notify || !this.#listening()) return { kind: 'sleep' }
    if (!this.asleep || this.#asleep?.tableId !== type.tableId) {
      await this.#getUp()
      await fallAsleep(this.#session, type.tableId)
      this.#asleep = { session: this.#session.session, tableId: type.tableId }
      this.#quiet = false
      this.#quietWaitMs = SHORTEST_QUIET_MS
      await this.standDown()
      return { kind: 'look' }
    }
    if (this.#quiet) return { kind: 'sleep' }
    this.#quiet = await nothingInFlight(this.#session, type.tableId)
    if (this.#quiet) return { kind: 'look' }
    const delayMs = this.#quietWaitMs
    this.#quietWaitMs = Math.min(this.#quietWaitMs * 2, LONGEST_QUIET_MS)
    return { kind: 'wait', delayMs }
  }

  /** There is a backlog: this worker looks again by itself, so enqueuers need not notify. */
  async stayAwake(type: TypeDescription): Promise<void> {
    if (!type.notify || !this.#listening()) return
    const promised = this.#holds(this.#awake) && this.#awake?.tableId === type.tableId
    if (!promised && performance.now() >= this.#askAgainAt) {
      this.#askAgainAt = performance.now() + ASK_AGAIN_MS
      await this.standDown()
      const mine = await stayAwake(this.#session, type.tableId)
      this.#awake = mine ? { session: this.#session.session, tableId: type.tableId } : undefined
    }
    await this.#getUp()
  }

  /** This worker won't look for a while: takes the promise back. */
  async standDown(): Promise<void> {
    const awake = this.#awake
    this.#awake = undefined
    if (this.#holds(awake)) await stopAwake(this.#session, awake.tableId)
  }

  /** Leaves nothing behind on a session that lives on. */
  async end(): Promise<void> {
    await this.standDown()
    await this.#getUp()
  }

  async #getUp(): Promise<void> {
    const asleep = this.#asleep
    this.#asleep = undefined
    if (this.#holds(asleep)) await wakeUp(this.#session, asleep.tableId)
  }

  #holds(lock: HeldLock | undefined): lock is HeldLock {
    return lock !== undefined && lock.session !== 0 && lock.session === this.#session.session
  }
}
