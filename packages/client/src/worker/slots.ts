import type { GoneReason, Run, TypeDescription } from '@pg-tasks/sql'
import { LeaseLostError, type LeaseLostReason } from '../errors/lease-lost-error.js'
import { RunLimitError } from '../errors/run-errors.js'
import type { Claimed } from '../task/claimed.js'
import { runsOf } from '../task/held-runs.js'
import type { Task } from '../task/task.js'
import { startTimer } from '../timers/start-timer.js'
import { ActiveRun } from './active-run.js'
import { type HandlerEnd, outcomeOf } from './outcome.js'
import { Prefetch } from './prefetch.js'
import { Settler } from './settler.js'
import { type TypeContext, taskReference } from './type-context.js'

/** How long a task is kept back whose former handler still runs in this process, before it is given to others. */
const PARKED_MS = 30_000

const LOST_REASONS: Partial<Record<GoneReason, LeaseLostReason>> = {
  canceled: 'canceled',
  reset: 'reset',
  missing: 'gone',
  finished: 'finished',
  failed: 'taken_over',
}

/** Told when there is room again for what may be acquired. */
export interface SlotsListener {
  readonly onRoom: () => void
}

/** Holds the runs of one type: those that wait for a slot, those whose handler runs, those that are being settled. */
export class Slots {
  readonly #task: Task<object>
  readonly #concurrency: number
  readonly #context: TypeContext
  readonly #type: () => TypeDescription
  readonly #listener: SlotsListener
  readonly #settler: Settler
  readonly #prefetch: Prefetch
  readonly #held = new Map<string, ActiveRun>()
  /** Runs given back after their limit whose handler hasn't ended. */
  readonly #overrun = new Map<string, ActiveRun>()
  readonly #parked = new Map<string, { readonly run: ActiveRun; readonly cancel: () => void }>()
  #queue: ActiveRun[] = []
  #head = 0
  #running = 0
  #suspect: ActiveRun | undefined
  #onIdle: (() => void) | undefined
  #closed = false

  constructor(
    task: Task<object>,
    concurrency: number,
    context: TypeContext,
    type: () => TypeDescription,
    listener: SlotsListener,
  ) {
    this.#task = task
    this.#concurrency = concurrency
    this.#context = context
    this.#type = type
    this.#listener = listener
    this.#prefetch = new Prefetch(concurrency, context.options.batchSize)
    this.#settler = new Settler(context, type, (run) => this.#forget(run))
  }

  get running(): number {
    return this.#running
  }

  get queued(): number {
    return this.#queue.length - this.#head
  }

  get unsettled(): number {
    return this.#settler.unsettled
  }

  /** Whether nothing of the type is held: only then may a suspect be taken. */
  get empty(): boolean {
    return this.#running === 0 && this.queued === 0
  }

  get holdsAny(): boolean {
    return this.#held.size > 0
  }

  held(): Iterable<Run> {
    return this.#held.values()
  }

  holds(id: string): boolean {
    return this.#held.has(id)
  }

  /** How many tasks may be acquired now; 0 also while the queue is more than half full, so that batches stay large. */
  get room(): number {
    if (this.#suspect !== undefined || this.#choked) return 0
    const target = this.#concurrency + this.#prefetch.ahead
    const have = this.#running + this.queued
    const lack = Math.min(target - have, this.#context.options.batchSize)
    if (lack <= 0) return 0
    const slotsFilled = have >= this.#concurrency
    return slotsFilled && have > target / 2 ? 0 : lack
  }

  /** Acquired tasks: they start as slots are free. */
  add(rows: readonly Claimed[]): void {
    const runs = runsOf(this.#task)
    for (const row of rows) {
      const run = new ActiveRun(row, this.#context.logger)
      this.#held.set(run.id, run)
      if (this.#overrun.has(run.id)) {
        this.#park(run)
        continue
      }
      runs.set(run.id, run)
      if (run.suspect) this.#suspect = run
      this.#queue.push(run)
    }
    this.#pump()
  }

  /** The database says that a run's task is no longer its own. */
  gone(id: string, token: string, reason: GoneReason): void {
    const run = this.#held.get(id)
    if (run === undefined || run.token !== token || run.phase === 'gone') return
    // What the run's own outcome did to its task is no loss.
    if (run.phase === 'settling' || (run.settledByHandler && reason !== 'lost' && reason !== 'reset')) return
    if (run.phase === 'queued') {
      this.#queue = this.#queue.slice(this.#head).filter((one) => one !== run)
      this.#head = 0
    }
    const wasRunning = run.phase === 'running'
    run.phase = 'gone'
    const { logger, events } = this.#context
    logger.warn({ ...taskReference(this.#type(), run), reason }, 'A task was taken from its run')
    events.emit('lost', { ...taskReference(this.#type(), run), reason })
    run.abort(new LeaseLostError(run.id, LOST_REASONS[reason] ?? 'taken_over'))
    if (wasRunning) this.#watchOverrun(run)
    else this.#forget(run)
  }

  /** Gives back what has not started. */
  async releaseQueued(): Promise<void> {
    this.#closed = true
    const runs = [...this.#queue.slice(this.#head), ...[...this.#parked.values()].map(({ run }) => run)]
    this.#queue = []
    this.#head = 0
    for (const { cancel } of this.#parked.values()) cancel()
    this.#parked.clear()
    await this.#settler.releaseUnstarted(runs)
    for (const run of runs) this.#forget(run)
  }

  abortAll(reason: Error): void {
    for (const run of this.#held.values()) if (run.phase === 'running') run.abort(reason)
  }

  /** Whether all handlers ended within the time. */
  idleWithin(timeoutMs: number): Promise<boolean> {
    if (this.#running === 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      const cancel = startTimer(timeoutMs, () => {
        this.#onIdle = undefined
        resolve(false)
      })
      this.#onIdle = () => {
        cancel()
        resolve(true)
      }
    })
  }

  /** Waits until all outcomes are written; gives up after the time, and the leases bring those tasks back. */
  async settled(timeoutMs: number): Promise<void> {
    const giveUp = startTimer(timeoutMs, () => this.#settler.abandon())
    await this.#settler.drain()
    giveUp()
  }

  /** Outcomes come faster than they can be written. */
  get #choked(): boolean {
    return this.#settler.unsettled > 2 * this.#context.options.batchSize + this.#concurrency
  }

  #pump(): void {
    while (!this.#closed && this.#running < this.#concurrency && this.#head < this.#queue.length && !this.#choked) {
      const run = this.#queue[this.#head] as ActiveRun
      this.#head += 1
      this.#start(run)
    }
    if (this.#head === this.#queue.length) {
      this.#queue = []
      this.#head = 0
    }
    if (!this.#closed && this.room > 0) this.#listener.onRoom()
  }

  #start(run: ActiveRun): void {
    this.#running += 1
    run.phase = 'running'
    run.startedAt = performance.now()
    const { events } = this.#context
    if (events.listenerCount('started') > 0) events.emit('started', taskReference(this.#type(), run))
    const { runLimitMs } = this.#type()
    if (runLimitMs !== null)
      run.cancelLimit = startTimer(runLimitMs, () => this.#limit(run, runLimitMs), { unref: true })
    try {
      const running: unknown = this.#task.run(run.row, run)
      if (isThenable(running)) {
        running.then(
          () => this.#ended(run, { threw: false }),
          (error: unknown) => this.#ended(run, { threw: true, error }),
        )
      } else {
        // Not in this turn: a handler that isn't async would otherwise recurse through the whole queue.
        queueMicrotask(() => this.#ended(run, { threw: false }))
      }
    } catch (error) {
      queueMicrotask(() => this.#ended(run, { threw: true, error }))
    }
  }

  #ended(run: ActiveRun, end: HandlerEnd): void {
    run.durationMs = performance.now() - run.startedAt
    run.cancelLimit?.()
    this.#running -= 1
    this.#prefetch.ran(run.durationMs)
    if (this.#suspect === run) this.#suspect = undefined
    if (run.overran) this.#endOverrun(run)
    else if (run.phase === 'gone') this.#forget(run)
    else {
      run.phase = 'settling'
      this.#settler.settle(run, outcomeOf(run, end, this.#task.options.autoFinish))
    }
    if (this.#running === 0) this.#onIdle?.()
    this.#pump()
  }

  /** The signal is aborted; who doesn't end within the grace loses the task, though not the slot. */
  #limit(run: ActiveRun, limitMs: number): void {
    if (run.phase !== 'running') return
    const error = new RunLimitError(run.id, limitMs)
    run.abort(error)
    run.cancelLimit = startTimer(
      this.#context.options.abortGraceMs,
      () => {
        if (run.phase !== 'running') return
        this.#reportOverrun(run)
        run.overran = true
        run.phase = 'settling'
        this.#overrun.set(run.id, run)
        this.#settler.settle(run, { kind: 'retry', error, reason: 'run_limit', options: {} })
      },
      { unref: true },
    )
  }

  #watchOverrun(run: ActiveRun): void {
    run.cancelLimit?.()
    run.cancelLimit = startTimer(this.#context.options.abortGraceMs, () => this.#reportOverrun(run), { unref: true })
  }

  #reportOverrun(run: ActiveRun): void {
    const durationMs = performance.now() - run.startedAt
    this.#context.logger.error(
      { ...taskReference(this.#type(), run), durationMs },
      'A handler goes on although its signal was aborted; its slot stays taken',
    )
    this.#context.events.emit('overrun', { ...taskReference(this.#type(), run), durationMs })
  }

  #endOverrun(run: ActiveRun): void {
    this.#overrun.delete(run.id)
    const parked = this.#parked.get(run.id)
    if (parked === undefined) return
    parked.cancel()
    this.#parked.delete(run.id)
    runsOf(this.#task).set(parked.run.id, parked.run)
    this.#queue.push(parked.run)
  }

  /** Its former handler still runs here: two at once in one process would share its memory. */
  #park(run: ActiveRun): void {
    const cancel = startTimer(
      PARKED_MS,
      () => {
        this.#parked.delete(run.id)
        this.#settler.settle(run, { kind: 'release' })
      },
      { unref: true },
    )
    this.#parked.set(run.id, { run, cancel })
  }

  #forget(run: ActiveRun): void {
    run.cancelLimit?.()
    if (this.#held.get(run.id) === run) this.#held.delete(run.id)
    const runs = runsOf(this.#task)
    if (runs.get(run.id) === run) runs.delete(run.id)
    if (this.#suspect === run) this.#suspect = undefined
    this.#pump()
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
