import type { GoneReason, HeartbeatResult } from '@pg-tasks/sql'
import { closeLease, heartbeat, type Queryable, type Run, release, type TypeDescription } from '@pg-tasks/sql'
import { isClosing } from '../../errors/connection-errors.js'
import { describeThrown } from '../../errors/describe-thrown.js'
import { sleep } from '../../timers/sleep.js'
import { startTimer } from '../../timers/start-timer.js'
import type { LeaseHealth } from '../worker-health.js'
import { type TypeContext, typeReference } from './type-context.js'

/** How often it is looked whether a beat is due, in milliseconds: a process that was suspended finds out soon. */
const TICK_MS = 1_000

/** Every so many beats the worker asks for runs under its lease that it doesn't know. */
const BEATS_PER_SEARCH = 3

/** How long the end of a heart waits for a beat that is under way, in milliseconds. */
const LAST_BEAT_MS = 1_000

/** What a heart tells its runner. */
export interface HeartListener {
  /** The runs that are held now. */
  readonly held: () => Iterable<Run>
  readonly holds: (id: string) => boolean
  readonly onGone: (id: string, token: string, reason: GoneReason) => void
  readonly onRescueDue: () => void
  readonly onSuspectDue: () => void
  /** While runs are held, at least once a second. */
  readonly onTick: () => void
  /** After each beat: what is known of the type may have changed. */
  readonly onBeat: () => Promise<void>
  readonly onFailed: (error: unknown) => void
  /** Nothing is held any more: the lease may be given back. */
  readonly onIdle: () => void
}

/**
 * Renews the worker's lease of one type while it holds runs of it, and learns which of them are no longer its own. An idle
 * worker's heart stands still.
 */
export class Heart {
  readonly #context: TypeContext
  readonly #type: () => TypeDescription
  readonly #intervalMs: () => number
  readonly #listener: HeartListener
  #cancelTick: (() => void) | undefined
  #lastBeatAt = 0
  #lastBeatWallAt = 0
  #beating: Promise<void> | undefined
  #beatAgain = false
  #beats = 0
  #searchUntil = 0
  #leaseOpen = false
  #stopped = false
  #renewed: Moment | undefined

  constructor(context: TypeContext, type: () => TypeDescription, intervalMs: () => number, listener: HeartListener) {
    this.#context = context
    this.#type = type
    this.#intervalMs = intervalMs
    this.#listener = listener
  }

  /** Whether a lease may be open that nothing needs. */
  get idle(): boolean {
    return this.#leaseOpen && this.#cancelTick === undefined
  }

  /** The lease, as far as is known here; only the database decides. */
  get lease(): LeaseHealth {
    const renewedAt = this.#renewed && new Date(this.#renewed.wall)
    if (!this.#leaseOpen || renewedAt === undefined) return Object.freeze({ state: 'none', renewedAt })
    return Object.freeze({ state: this.overdue ? 'overdue' : 'held', renewedAt })
  }

  /** Whether the lease was not renewed in time: others may have the tasks. Until a beat has told, none should be started. */
  get overdue(): boolean {
    if (!this.#leaseOpen || this.#renewed === undefined) return false
    // A suspended machine's monotonic clock stands still.
    const ageMs = Math.max(performance.now() - this.#renewed.monotonic, wallClock() - this.#renewed.wall)
    const { timeoutMs } = this.#type()
    return timeoutMs !== null && ageMs >= timeoutMs
  }

  /**
   * Runs were acquired: the lease is open, and must be kept.
   *
   * @param asked - when they were asked for
   */
  start(asked: Moment = now()): void {
    // Where others may have what is held, only a beat tells.
    if (!this.overdue || this.#holdsNothing()) this.#renewed = asked
    this.#leaseOpen = true
    // An acquire may end after its worker did.
    if (this.#cancelTick !== undefined || this.#stopped) return
    // The first beat comes soon: the type's timeout may have been shortened since it was learned.
    this.#note()
    this.#lastBeatAt -= this.#intervalMs()
    this.#tick()
  }

  /** An acquire ended without an answer: it may have claimed tasks that nobody knows. They show once half a lease is over. */
  searchStrays(): void {
    this.#searchUntil = performance.now() + (this.#type().timeoutMs ?? 60_000)
    this.start()
  }

  /** Asks now; calls that come while one is under way share the next. */
  beat(): Promise<void> {
    if (this.#beating !== undefined) {
      this.#beatAgain = true
      return this.#beating
    }
    this.#beating = this.#beatOnce().finally(() => {
      this.#beating = undefined
      if (this.#beatAgain) {
        this.#beatAgain = false
        void this.beat()
      }
    })
    return this.#beating
  }

  /** Stops beating, for good. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTick?.()
    this.#cancelTick = undefined
    this.#beatAgain = false
    if (this.#beating !== undefined) await Promise.race([this.#beating, sleep(LAST_BEAT_MS, { unref: true })])
  }

  /**
   * Gives the lease back. Only for whoever acquires, and between two acquires: a task whose worker has no lease is taken by the
   * next rescue.
   */
  async close(connection: Queryable): Promise<void> {
    this.#leaseOpen = false
    try {
      await closeLease(connection, this.#type().tableId, this.#context.workerId)
    } catch (error) {
      this.#context.logger.debug({ error: describeThrown(error) }, 'A lease was left to end by itself')
    }
  }

  #tick(): void {
    this.#cancelTick = startTimer(
      Math.min(TICK_MS, this.#intervalMs()),
      () => {
        this.#tick()
        this.#listener.onTick()
        if (this.#due()) void this.beat()
      },
      { unref: true },
    )
  }

  /** Monotonic time stands still in a suspended machine, and the wall clock may be set: whichever says so. */
  #due(): boolean {
    const monotonic = performance.now() - this.#lastBeatAt
    const wall = Math.abs(wallClock() - this.#lastBeatWallAt)
    return monotonic >= this.#intervalMs() - Math.min(TICK_MS, this.#intervalMs()) / 2 || wall >= this.#intervalMs()
  }

  #note(): void {
    this.#lastBeatAt = performance.now()
    this.#lastBeatWallAt = wallClock()
  }

  async #beatOnce(): Promise<void> {
    const searching = performance.now() < this.#searchUntil
    if (this.#holdsNothing() && !searching) {
      this.#cancelTick?.()
      this.#cancelTick = undefined
      this.#listener.onIdle()
      return
    }
    this.#note()
    const runs = [...this.#listener.held()]
    this.#beats += 1
    const findStrays = searching || this.#beats % BEATS_PER_SEARCH === 0
    const { beating, workerId, failures, events } = this.#context
    try {
      const asked = now()
      const result = await heartbeat(beating, this.#type(), workerId, runs, { findStrays })
      this.#renewed = asked
      failures.recovered(`heartbeat ${this.#type().table}`, 'Leases are renewed again')
      await this.#hear(result, new Map(runs.map((run) => [run.id, run.token])))
      await this.#listener.onBeat()
    } catch (error) {
      if (isClosing(error)) return
      // Tried again at the next tick; a lease that nobody took stays good.
      this.#lastBeatAt = performance.now() - this.#intervalMs() + Math.min(TICK_MS, this.#intervalMs() / 4)
      failures.failed(
        `heartbeat ${this.#type().table}`,
        { ...typeReference(this.#type()), error: describeThrown(error) },
        'A lease could not be renewed; trying again',
      )
      events.emit('error', error, typeReference(this.#type()))
      this.#listener.onFailed(error)
    }
  }

  async #hear(result: HeartbeatResult, tokens: ReadonlyMap<string, string>): Promise<void> {
    for (const { id, reason } of result.gone) this.#listener.onGone(id, tokens.get(id) ?? '', reason)
    if (result.rescueDue) this.#listener.onRescueDue()
    if (result.suspectDue) this.#listener.onSuspectDue()
    const strays = result.strays.filter((stray) => !this.#listener.holds(stray.id))
    if (strays.length === 0) return
    this.#context.logger.warn(
      { ...typeReference(this.#type()), count: strays.length },
      'Tasks were acquired by a call whose answer was lost; giving them back',
    )
    await release(this.#context.beating, this.#type(), strays)
  }

  #holdsNothing(): boolean {
    for (const _ of this.#listener.held()) return false
    return true
  }
}

/** One and the same moment by both clocks, in milliseconds. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export function now(): Moment {
  return { monotonic: performance.now(), wall: wallClock() }
}

/** Only to notice that time has passed; what has expired, the database decides. */
function wallClock(): number {
  return Date.now()
}
