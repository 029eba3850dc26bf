import { fallAsleep, nothingInFlight, stayAwake, stopAwake, type TypeDescription, wakeUp } from '@pg-tasks/sql'
import type { WorkerSession } from './worker-session.js'

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

/**
 * The worker's side of the wake-up protocol (migration 0002) for one task type: who sleeps says so before the last look, and
 * who promises to look needs no notification. The promises are locks of a session; they end with it.
 */
export class Sleeper {
  readonly #session: WorkerSession
  readonly #listening: () => boolean
  #asleepIn = 0
  #awakeIn = 0
  #quiet = false
  #quietWaitMs = SHORTEST_QUIET_MS
  #askAgainAt = 0

  constructor(session: WorkerSession, listening: () => boolean) {
    this.#session = session
    this.#listening = listening
  }

  /** Whether commits notify this worker. */
  get asleep(): boolean {
    return this.#asleepIn !== 0 && this.#asleepIn === this.#session.session
  }

  /** Takes one step towards sleep. Without notifications there is nothing to arrange: the poll finds tasks. */
  async step(type: TypeDescription): Promise<SleepStep> {
    if (!type.notify || !this.#listening()) return { kind: 'sleep' }
    if (!this.asleep) {
      await fallAsleep(this.#session, type.tableId)
      this.#asleepIn = this.#session.session
      this.#quiet = false
      this.#quietWaitMs = SHORTEST_QUIET_MS
      await this.standDown(type)
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
    const promisedHere = this.#awakeIn !== 0 && this.#awakeIn === this.#session.session
    if (!promisedHere && performance.now() >= this.#askAgainAt) {
      this.#askAgainAt = performance.now() + ASK_AGAIN_MS
      const promised = await stayAwake(this.#session, type.tableId)
      this.#awakeIn = promised ? this.#session.session : 0
    }
    if (this.asleep) await wakeUp(this.#session, type.tableId)
    this.#asleepIn = 0
  }

  /** This worker won't look for a while: takes the promise back. */
  async standDown(type: TypeDescription): Promise<void> {
    if (this.#awakeIn !== 0 && this.#awakeIn === this.#session.session) await stopAwake(this.#session, type.tableId)
    this.#awakeIn = 0
  }

  /** Leaves nothing behind on a session that lives on. */
  async end(type: TypeDescription): Promise<void> {
    await this.standDown(type)
    if (this.asleep) await wakeUp(this.#session, type.tableId)
    this.#asleepIn = 0
  }
}
