import { nextDue, type TypeDescription } from '@pg-tasks/sql'
import { Backoff } from '../../backoff/backoff.js'
import { Gate } from '../../timers/gate.js'
import { sleep } from '../../timers/sleep.js'
import { startTimer } from '../../timers/start-timer.js'
import type { KnownType } from '../type/known-type.js'
import type { TypeContext } from '../type/type-context.js'
import type { Rescuer } from './rescuer.js'
import { sleepTime } from './sleep-time.js'
import { Sleeper } from './sleeper.js'

/** A worker that looks at nothing promises nothing any more after this time, in milliseconds. */
const STAND_DOWN_MS = 1_000

/** What a pace depends on. */
export interface PaceParts {
  readonly context: TypeContext
  readonly type: KnownType
  readonly rescuer: Rescuer
  /** Whether nothing of the type is held. */
  readonly slotsEmpty: () => boolean
  /** Ends every wait. */
  readonly stopping: AbortSignal
}

/**
 * How one acquire follows the other: at once while there is a backlog, after a wait for room, or after a sleep until something is
 * due or a commit notifies.
 */
export class Pace {
  readonly #parts: PaceParts
  readonly #gate = new Gate()
  readonly #sleeper: Sleeper
  /** For due rows that can't be taken: locked, or kept back by a trigger. */
  readonly #untakable: Backoff
  #fullRounds = 0
  /** How often in a row it slept, looked, and found nothing. */
  #emptyWakes = 0
  #slept = false
  #waitingForRoom = false

  constructor(parts: PaceParts) {
    const { control, listening, options } = parts.context
    this.#parts = parts
    this.#sleeper = new Sleeper(control, listening)
    this.#untakable = new Backoff({ baseMs: 10, maxMs: Math.min(5_000, options.pollIntervalMs) })
  }

  /** Whether commits notify this worker. */
  get asleep(): boolean {
    return this.#sleeper.asleep
  }

  /** Whether the acquire that is due follows a sleep. */
  get slept(): boolean {
    return this.#slept
  }

  /** A notification, a reconnect, or any other reason to look. */
  wake(): void {
    this.#gate.wake()
  }

  /** There is room again. */
  wakeForRoom(): void {
    if (this.#waitingForRoom) this.#gate.wake()
  }

  /** An acquire begins: what asked for it until now is about to be done. */
  begin(): void {
    this.#gate.consume()
  }

  /** Tasks were acquired. */
  acquired(): void {
    this.#untakable.reset()
  }

  /** Full: the end of a handler wakes. */
  async waitForRoom(): Promise<void> {
    const { stopping: signal } = this.#parts
    this.#waitingForRoom = true
    try {
      if ((await this.#gate.wait(STAND_DOWN_MS, { signal })) !== 'elapsed') return
      await this.#sleeper.standDown()
      await this.#gate.wait(Number.POSITIVE_INFINITY, { signal })
    } finally {
      this.#waitingForRoom = false
    }
  }

  /** Waits for a batch, beside which nothing is looked for. */
  async waitForBatch<Value>(batch: Promise<Value>): Promise<Value> {
    const standDown = (): void => void this.#sleeper.standDown().catch(() => {})
    const cancelTimer = startTimer(STAND_DOWN_MS, standDown, { unref: true })
    try {
      return await batch
    } finally {
      cancelTimer()
    }
  }

  /** Waits as long as `count` tasks where there was room for `room` allow. */
  async goOn(type: TypeDescription, count: number, room: number): Promise<void> {
    const slept = this.#slept
    this.#slept = false
    if (count >= room) {
      this.#fullRounds += 1
      if (this.#fullRounds >= 2) await this.#sleeper.stayAwake(type)
      return
    }
    this.#fullRounds = 0
    this.#emptyWakes = count === 0 && slept ? Math.min(this.#emptyWakes + 1, 5) : 0
    await this.#idle(type)
  }

  /** Leaves no locks behind on a session that may live on. */
  end(): Promise<void> {
    return this.#sleeper.end()
  }

  /** Nothing more was to be had: sleeps until something is due or a commit notifies. */
  async #idle(type: TypeDescription): Promise<void> {
    const { context, rescuer, slotsEmpty, stopping: signal } = this.#parts
    const { control, workerId, options } = context
    const step = await this.#sleeper.step(type)
    if (step.kind === 'look') return
    const due = await nextDue(control, type, { workerId, slotsEmpty: slotsEmpty() })
    const delayMs = sleepTime(due, {
      pollIntervalMs: options.pollIntervalMs,
      untakable: this.#untakable,
      planRescue: (inMs) => rescuer.plan(type, inMs),
    })
    if (step.kind === 'wait') {
      await this.#gate.wait(Math.min(step.delayMs, delayMs), { signal })
      return
    }
    if (this.#parts.type.age > options.pollIntervalMs) await this.#parts.type.relearn(control)
    this.#slept = true
    // A storm of notifications about nothing.
    const deafMs = this.#emptyWakes > 1 ? Math.min(10 * this.#emptyWakes, delayMs) : 0
    if (deafMs > 0) await sleep(deafMs, { signal })
    await this.#gate.wait(delayMs - deafMs, { signal })
  }
}
