import { finishMany, type Queryable, type TaskState, type TypeDescription } from '@pg-tasks/sql'
import { unreadableIn } from '../connection/guard-types.js'
import { RunLimitError, TransactionRolledBackError } from '../errors/run-errors.js'
import { runsOf } from '../task/held-runs.js'
import type { Task } from '../task/task.js'
import { startTimer } from '../timers/start-timer.js'
import type { ActiveRun } from './active-run.js'
import { type HandlerEnd, type Outcome, outcomeOf } from './outcome.js'
import { OutcomeReport } from './outcome-report.js'
import { runHandler } from './run-handler.js'
import { TaskTransaction } from './task-transaction.js'
import { type TypeContext, taskReference } from './type-context.js'
import { AbandonedError, untilAbandoned } from './until-abandoned.js'
import { writeOutcome } from './write-outcome.js'

/** After this share of the lease a batch starts no more of its tasks: what it holds locked, others wait for. */
const LONGEST_SHARE = 1 / 3

/** What a batch needs. */
export interface BatchParts {
  readonly task: Task<object>
  readonly context: TypeContext
  readonly type: TypeDescription
  /** The open transaction in which its tasks were acquired. */
  readonly transaction: Queryable
  /** Aborted when no more of its tasks should be started. */
  readonly stopping: AbortSignal
}

interface Ended {
  readonly run: ActiveRun
  readonly outcome: Outcome
  state: TaskState | undefined
}

/** Tasks that were acquired in an open transaction: runs them there, one after the other, and writes their outcomes. */
export class Batch {
  readonly #parts: BatchParts
  readonly #report: OutcomeReport
  readonly #ended: Ended[] = []
  #savepoints = 0
  #current: ActiveRun | undefined

  constructor(parts: BatchParts) {
    this.#parts = parts
    this.#report = new OutcomeReport(parts.context, () => parts.type)
  }

  /** @throws AbandonedError, or the error of a statement after which the transaction can't go on */
  async run(runs: readonly ActiveRun[]): Promise<void> {
    const { type, stopping } = this.#parts
    const until = performance.now() + (type.timeoutMs ?? Number.POSITIVE_INFINITY) * LONGEST_SHARE
    for (const run of runs) {
      const late = stopping.aborted || (this.#ended.length > 0 && performance.now() >= until)
      const outcome: Outcome = late ? { kind: 'release' } : await this.#runOne(run)
      this.#ended.push({ run, outcome, state: undefined })
    }
    await this.#settle()
  }

  /** Asks the handler that runs to end. */
  abort(reason: Error): void {
    this.#current?.abort(reason)
  }

  /** Tells what has become of the runs, once it is committed. */
  report(): void {
    for (const { run, outcome, state } of this.#ended) {
      if (outcome.kind === 'finish') this.#report.finished(run)
      else if (outcome.kind === 'look') this.#report.found(run, foundAfter(run))
      else this.#report.written(run, outcome, state)
    }
  }

  async #runOne(run: ActiveRun): Promise<Outcome> {
    const unreadable = unreadableIn(run.row)
    if (unreadable !== undefined) return { kind: 'retry', error: unreadable.error, reason: 'error', options: {} }
    const { task, type, context } = this.#parts
    const { events } = context
    if (events.listenerCount('started') > 0) events.emit('started', taskReference(type, run))
    const limitMs = Math.min(type.runLimitMs ?? Number.POSITIVE_INFINITY, type.timeoutMs ?? Number.POSITIVE_INFINITY)
    const cancelTimer = startTimer(limitMs, () => run.abort(new RunLimitError(run.id, limitMs)), { unref: true })
    runsOf(task).set(run.id, run)
    run.phase = 'running'
    run.startedAt = performance.now()
    this.#current = run
    try {
      return outcomeOf(run, await this.#call(run), true)
    } finally {
      this.#current = undefined
      run.durationMs = performance.now() - run.startedAt
      runsOf(task).delete(run.id)
      cancelTimer()
    }
  }

  async #call(run: ActiveRun): Promise<HandlerEnd> {
    const { task, context, type, transaction: session } = this.#parts
    let savepoint: string | undefined
    const transaction = new TaskTransaction(session, () => {
      savepoint = `pg_tasks_${this.#savepoints + 1}`
      return this.#begin(savepoint)
    })
    run.transaction = transaction
    let end: HandlerEnd = { threw: false }
    try {
      await untilAbandoned(run, context.options.abortGraceMs, async () => runHandler(context, type, task, run))
    } catch (error) {
      end = { threw: true, error }
    }
    await transaction.end()
    if (end.threw && end.error instanceof AbandonedError) throw end.error
    if (!end.threw && transaction.failed) end = { threw: true, error: new TransactionRolledBackError() }
    if (end.threw) {
      run.settled = undefined
      if (savepoint !== undefined) await session.query(`rollback to savepoint ${savepoint}`)
    }
    return end
  }

  /**
   * A savepoint of its own for a handler that begins to write; the one before it has served. Each has another name: one that
   * could not be made must not be taken for the last task's.
   */
  async #begin(savepoint: string): Promise<void> {
    const release = this.#savepoints === 0 ? '' : `release savepoint pg_tasks_${this.#savepoints}; `
    await this.#parts.transaction.query(`${release}savepoint ${savepoint}`)
    this.#savepoints += 1
  }

  async #settle(): Promise<void> {
    const { transaction, type } = this.#parts
    const finished = this.#ended.filter(({ outcome }) => outcome.kind === 'finish').map(({ run }) => run)
    // Those that it leaves out the handler has dealt with, by statements of its own in this transaction.
    if (finished.length > 0) await finishMany(transaction, type, finished)
    for (const ended of this.#ended) {
      const { run, outcome } = ended
      if (outcome.kind === 'finish' || outcome.kind === 'look') continue
      ended.state = await writeOutcome(transaction, type, run, outcome, undefined)
    }
  }
}

/** What a look would find of a run whose handler has settled it here. */
function foundAfter({ settled }: ActiveRun): 'finished' | 'canceled' | 'lost' {
  if (settled?.verb === 'cancel') return 'canceled'
  return settled?.verb === 'retry' ? 'lost' : 'finished'
}
