import type { GoneReason, Run, TypeDescription } from '@pg-tasks/sql'
import { unreadableIn } from '../../connection/guard-types.js'
import { LeaseLostError } from '../../errors/lease-lost-error.js'
import { RunLimitError } from '../../errors/run-errors.js'
import type { Claimed } from '../../task/claimed.js'
import { runsOf } from '../../task/held-runs.js'
import type { Task } from '../../task/task.js'
import { startTimer } from '../../timers/start-timer.js'
import { type WaitOptions, wait } from '../../timers/wait.js'
import { Prefetch } from '../acquire/prefetch.js'
import type { LentRuns } from '../settle/lent-runs.js'
import { type HandlerEnd, isOwnDoing, outcomeOf } from '../settle/outcome.js'
import { Settler } from '../settle/settler.js'
import { type TypeContext, taskReference } from '../type/type-context.js'
import { ActiveRun } from './active-run.js'
import { callHandler } from './call-handler.js'
import { Lingering } from './lingering.js'
import { lostReason } from './lost-reason.js'
import { RunQueue } from './run-queue.js'
import type { SlotsListener } from './slots-listener.js'
import { Steps } from './steps.js'

/** A task that was taken ahead of a free slot is given back if none is free after this time, in milliseconds. */
const LONGEST_QUEUED_MS = 1_000

/** Holds the runs of one type: those that wait for a slot, those whose handler runs, those that are being settled. */
export class Slots {
  readonly #task: Task<object>
  readonly #concurrency: number
  readonly #context: TypeContext
  readonly #type: () => TypeDescription
  readonly #listener: SlotsListener
  readonly #settler: Settler
  readonly #prefetch: Prefetch
  readonly #lingering: Lingering
  readonly #steps: Steps
  readonly #held = new Map<string, ActiveRun>()
  readonly #queue = new RunQueue()
  #running = 0
  #lastStartAt = 0
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
    this.#steps = new Steps(context, type)
    this.#lingering = new Lingering((run) => this.#giveBack([run]))
  }

  get running(): number {
    return this.#running
  }

  get queued(): number {
    return this.#queue.length
  }

  get unsettled(): number {
    return this.#settler.unsettled
  }

  /** Whether nothing of the type is held: only then may a suspect be taken. */
  get empty(): boolean {
    return this.#running === 0 && this.queued === 0
  }

  /** What is about to be finished. */
  get finishing(): LentRuns {
    return this.#settler
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
    if (this.#closed || this.#suspect !== undefined || this.#choked) return 0
    const target = this.#concurrency + this.#prefetch.ahead
    const have = this.#running + this.queued
    const lack = Math.min(target - have, this.#context.options.batchSize)
    if (lack <= 0) return 0
    const slotsFilled = have >= this.#concurrency
    return slotsFilled && have > target / 2 ? 0 : lack
  }

  /** Acquired tasks: they start as slots are free. */
  add(rows: readonly Claimed[]): void {
    const added = rows.map((row) => new ActiveRun(row, this.#context.logger, this.#steps))
    for (const run of added) {
      this.#supersede(run)
      this.#held.set(run.id, run)
    }
    if (this.#closed) this.#giveBack(added)
    else for (const run of added) if (!this.#lingering.parks(run)) this.#admit(run)
    this.#pump()
  }

  /** The database says that a run's task is no longer its own. */
  gone(id: string, token: string, reason: GoneReason): void {
    const run = this.#held.get(id)
    if (run === undefined || run.token !== token || run.phase === 'settling') return
    const error = new LeaseLostError(run.id, lostReason(reason))
    if (isOwnDoing(run.settled, reason)) {
      // It may also have been asked for from outside, in this process: then the handler should hear it.
      if (reason === 'canceled') run.abort(error)
      return
    }
    const { logger, events } = this.#context
    logger.warn({ ...taskReference(this.#type(), run), reason }, 'A task was taken from its run')
    events.emit('lost', { ...taskReference(this.#type(), run), reason })
    if (run.phase === 'running') {
      run.phase = 'gone'
      this.#linger(run)
      this.#held.delete(id)
      run.abort(error)
      this.#startGrace(run, () => this.#reportOverrun(run))
      return
    }
    run.phase = 'gone'
    this.#queue.remove(run)
    this.#lingering.drop(run)
    this.#forget(run)
  }

  /** Tasks that were taken ahead and can't be started soon go back, so that other workers have them. */
  releaseStale(): void {
    if (this.queued === 0 || performance.now() - this.#lastStartAt < LONGEST_QUEUED_MS) return
    this.#prefetch.stalled(LONGEST_QUEUED_MS)
    this.#giveBack(this.#queue.clear())
  }

  /** It is known again which runs are held. */
  goOn(): void {
    this.#pump()
  }

  /** Starts nothing more, and gives back what has not started. */
  close(): void {
    this.#closed = true
    this.#giveBack([...this.#queue.clear(), ...this.#lingering.unparkAll()])
  }

  /** Ends the wait of all handlers that heed their signal; they have the grace to end. */
  async abortAll(reason: Error): Promise<void> {
    for (const run of this.#held.values()) if (run.phase === 'running') run.abort(reason)
    if (await this.idleWithin(this.#context.options.abortGraceMs)) return
    for (const run of this.#held.values()) if (run.phase === 'running') this.#reportOverrun(run)
  }

  /** Whether all handlers end within the time, or before the signal is aborted. */
  async idleWithin(timeoutMs: number, options: WaitOptions = {}): Promise<boolean> {
    if (this.#running === 0) return true
    const outcome = await wait<'idle'>(timeoutMs, options, (end) => {
      this.#onIdle = () => end('idle')
    })
    return outcome === 'idle'
  }

  /** Waits until all outcomes are written; gives up after the time, and the leases bring those tasks back. */
  settled(timeoutMs: number): Promise<void> {
    return this.#settler.drain(timeoutMs)
  }

  /** Outcomes come faster than they can be written. */
  get #choked(): boolean {
    return this.#settler.unsettled > 2 * this.#context.options.batchSize + this.#concurrency
  }

  /** A task that is acquired again was taken from the run that this process still holds, before a heartbeat could tell. */
  #supersede(run: ActiveRun): void {
    const former = this.#held.get(run.id)
    if (former !== undefined) this.gone(former.id, former.token, run.attempt > former.attempt ? 'lost' : 'reset')
  }

  #admit(run: ActiveRun): void {
    const unreadable = unreadableIn(run.row)
    if (unreadable !== undefined) {
      run.phase = 'settling'
      this.#settler.settle(run, { kind: 'retry', error: unreadable.error, reason: 'error', options: {} })
      return
    }
    runsOf(this.#task).set(run.id, run)
    if (run.suspect) this.#suspect = run
    this.#queue.push(run)
  }

  #giveBack(runs: readonly ActiveRun[]): void {
    for (const run of runs) run.phase = 'settling'
    this.#settler.release(runs)
  }

  #pump(): void {
    while (!this.#closed && this.#running < this.#concurrency && !this.#choked && this.queued > 0) {
      if (this.#listener.leaseOverdue()) break
      const run = this.#queue.shift()
      if (run === undefined) break
      this.#start(run)
    }
    if (this.room > 0) this.#listener.onRoom()
  }

  #start(run: ActiveRun): void {
    this.#running += 1
    run.phase = 'running'
    run.startedAt = performance.now()
    this.#lastStartAt = run.startedAt
    const { events } = this.#context
    if (events.listenerCount('started') > 0) events.emit('started', taskReference(this.#type(), run))
    const { runLimitMs } = this.#type()
    if (runLimitMs !== null) {
      run.cancelTimer = startTimer(runLimitMs, () => this.#limit(run, runLimitMs), { unref: true })
    }
    callHandler(run, this.#listener.call, (end) => this.#ended(run, end))
  }

  #ended(run: ActiveRun, end: HandlerEnd): void {
    run.durationMs = performance.now() - run.startedAt
    run.cancelTimer?.()
    this.#running -= 1
    this.#prefetch.ran(run.durationMs)
    if (this.#suspect === run) this.#suspect = undefined
    if (this.#lingering.has(run)) {
      const parked = this.#lingering.end(run)
      // Unless its outcome is still being written.
      if (this.#held.get(run.id) !== run) this.#forget(run)
      if (parked !== undefined) this.#admit(parked)
    } else {
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
    this.#startGrace(run, () => {
      if (run.phase !== 'running') return
      this.#reportOverrun(run)
      run.phase = 'settling'
      this.#linger(run)
      this.#settler.settle(run, { kind: 'retry', error, reason: 'run_limit', options: {} })
    })
  }

  #startGrace(run: ActiveRun, onOver: () => void): void {
    run.cancelTimer?.()
    run.cancelTimer = startTimer(this.#context.options.abortGraceMs, onOver, { unref: true })
  }

  #linger(run: ActiveRun): void {
    if (this.#suspect === run) this.#suspect = undefined
    this.#lingering.add(run)
  }

  #reportOverrun(run: ActiveRun): void {
    const durationMs = performance.now() - run.startedAt
    this.#context.logger.error(
      { ...taskReference(this.#type(), run), durationMs },
      'A handler goes on although its signal was aborted; its slot stays taken',
    )
    this.#context.events.emit('overrun', { ...taskReference(this.#type(), run), durationMs })
  }

  #forget(run: ActiveRun): void {
    if (this.#held.get(run.id) === run) this.#held.delete(run.id)
    if (this.#suspect === run) this.#suspect = undefined
    // A handler that goes on stays fenced with its own token, also where it names its task by the id alone.
    const runs = runsOf(this.#task)
    if (runs.get(run.id) === run && !this.#lingering.has(run)) runs.delete(run.id)
    this.#pump()
  }
}
