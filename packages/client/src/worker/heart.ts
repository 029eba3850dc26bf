import type { GoneReason, HeartbeatResult } from '@pg-tasks/sql'
import { closeLease, heartbeat, type Run, release, type TypeDescription } from '@pg-tasks/sql'
import { describeThrown } from '../errors/describe-thrown.js'
import { startTimer } from '../timers/start-timer.js'
import { type TypeContext, typeReference } from './type-context.js'

/** How often it is looked whether a beat is due, in milliseconds: a process that was suspended finds out soon. */
const TICK_MS = 1_000

/** Every so many beats the worker asks for runs under its lease that it doesn't know. */
const BEATS_PER_SEARCH = 3

/** What a heart tells its runner. */
export interface HeartListener {
  /** The runs that are held now. */
  readonly held: () => Iterable<Run>
  readonly holds: (id: string) => boolean
  readonly onGone: (id: string, token: string, reason: GoneReason) => void
  readonly onRescueDue: () => void
  readonly onSuspectDue: () => void
}

/**
 * Renews the worker's lease of one type while it holds runs of it, and learns which of them are no longer its own. Idle
 * workers beat no more and give their lease back.
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
  #searchAtOnce = false
  #leaseOpen = false

  constructor(context: TypeContext, type: () => TypeDescription, intervalMs: () => number, listener: HeartListener) {
    this.#context = context
    this.#type = type
    this.#intervalMs = intervalMs
    this.#listener = listener
  }

  /** Runs were acquired: the lease is open, and must be kept. */
  start(): void {
    this.#leaseOpen = true
    if (this.#cancelTick !== undefined) return
    this.#note()
    this.#tick()
  }

  /** An acquire ended without an answer: it may have claimed tasks that nobody knows. */
  searchStrays(): void {
    this.#searchAtOnce = true
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

  /** Stops beating; gives the lease back if nothing is held. */
  async stop(): Promise<void> {
    this.#cancelTick?.()
    this.#cancelTick = undefined
    this.#beatAgain = false
    await this.#beating
    if (this.#holdsNothing()) await this.#close()
  }

  #tick(): void {
    this.#cancelTick = startTimer(
      Math.min(TICK_MS, this.#intervalMs()),
      () => {
        this.#tick()
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
    if (this.#holdsNothing() && !this.#searchAtOnce) {
      this.#cancelTick?.()
      this.#cancelTick = undefined
      await this.#close()
      return
    }
    this.#note()
    const runs = [...this.#listener.held()]
    this.#beats += 1
    const findStrays = this.#searchAtOnce || this.#beats % BEATS_PER_SEARCH === 0
    try {
      const { beating, workerId, failures } = this.#context
      const result = await heartbeat(beating, this.#type(), workerId, runs, { findStrays })
      failures.recovered(`heartbeat ${this.#type().table}`, 'Leases are renewed again')
      await this.#hear(result, new Map(runs.map((run) => [run.id, run.token])))
    } catch (error) {
      // Tried again at the next tick; a lease that nobody took stays good.
      this.#lastBeatAt = performance.now() - this.#intervalMs() + Math.min(TICK_MS, this.#intervalMs() / 4)
      this.#context.failures.failed(
        `heartbeat ${this.#type().table}`,
        { ...typeReference(this.#type()), error: describeThrown(error) },
        'A lease could not be renewed; trying again',
      )
      this.#context.events.emit('error', error, typeReference(this.#type()))
    }
  }

  async #hear(result: HeartbeatResult, tokens: ReadonlyMap<string, string>): Promise<void> {
    for (const { id, reason } of result.gone) this.#listener.onGone(id, tokens.get(id) ?? '', reason)
    if (result.rescueDue) this.#listener.onRescueDue()
    if (result.suspectDue) this.#listener.onSuspectDue()
    const strays = result.strays.filter((stray) => !this.#listener.holds(stray.id))
    if (strays.length > 0) {
      this.#context.logger.warn(
        { ...typeReference(this.#type()), count: strays.length },
        'Tasks were acquired by a call whose answer was lost; giving them back',
      )
      await release(this.#context.beating, this.#type(), strays)
    }
    // Strays show only once they are older than half a lease.
    if (this.#searchAtOnce && this.#beats % BEATS_PER_SEARCH === 0) this.#searchAtOnce = false
  }

  async #close(): Promise<void> {
    if (!this.#leaseOpen) return
    this.#leaseOpen = false
    try {
      await closeLease(this.#context.beating, this.#type().tableId, this.#context.workerId)
    } catch (error) {
      this.#context.logger.debug({ error: describeThrown(error) }, 'A lease was left to end by itself')
    }
  }

  #holdsNothing(): boolean {
    for (const _ of this.#listener.held()) return false
    return true
  }
}

/** Only to notice that time has passed; what has expired, the database decides. */
function wallClock(): number {
  return Date.now()
}
