import { finishMany, type Queryable, release, type TaskState, type TypeDescription } from '@pg-tasks/sql'
import { unreadableIn } from '../../connection/guard-types.js'
import { isInstance } from '../../errors/is-instance.js'
import { NotSettledError, RunLimitError, TransactionRolledBackError } from '../../errors/run-errors.js'
import { runsOf } from '../../task/held-runs.js'
import type { Task } from '../../task/task.js'
import { startTimer } from '../../timers/start-timer.js'
import type { ActiveRun } from '../run/active-run.js'
import { runHandler } from '../run/run-handler.js'
import { AbandonedError, untilAbandoned } from '../run/until-abandoned.js'
import { type HandlerEnd, type Outcome, outcomeOf } from '../settle/outcome.js'
import { OutcomeReport } from '../settle/outcome-report.js'
import { writeOutcome } from '../settle/write-outcome.js'
import { type TypeContext, taskReference } from '../type/type-context.js'
import { Savepoints } from './savepoints.js'
import { TaskTransaction } from './task-transaction.js'
import { tookBack } from './took-back.js'

/** After this share of the lease a batch starts no more of its tasks: what it holds locked, others wait for. */
const LONGEST_SHARE = 1 / 3

/** Tasks per savepoint. PostgreSQL keeps 64 subtransactions of a transaction at hand; beyond, everybody's snapshots are slower. */
const PER_SAVEPOINT = 16

/** Where one task has failed, others may: so many get a savepoint each. */
const CAREFUL_AFTER_FAILURE = 50

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

/**
 * Tasks that were acquired in an open transaction: runs them there, one after the other, and writes their outcomes.
 *
 * A savepoint stands for several tasks: one each would be a third of their work. Where one fails that has written, those since
 * the savepoint are taken back too, and run again.
 */
export class Batch {
  readonly #parts: BatchParts
  readonly #report: OutcomeReport
  readonly #savepoints: Savepoints
  readonly #outcomes = new Map<ActiveRun, Outcome>()
  readonly #states = new Map<ActiveRun, TaskState | undefined>()
  /** Those that have written since the savepoint. */
  #writers: ActiveRun[] = []
  /** For so many tasks each gets a savepoint of its own. */
  #careful = 0
  #current: ActiveRun | undefined
  /** When it starts no more tasks. */
  #until = Number.POSITIVE_INFINITY

  constructor(parts: BatchParts) {
    this.#parts = parts
    this.#report = new OutcomeReport(parts.context, () => parts.type)
    this.#savepoints = new Savepoints(parts.transaction)
  }

  /** @throws AbandonedError, or the error of a statement after which the transaction can't go on */
  async run(runs: readonly ActiveRun[]): Promise<void> {
    this.#until = performance.now() + (this.#parts.type.timeoutMs ?? Number.POSITIVE_INFINITY) * LONGEST_SHARE
    for (const run of runs) await this.#runUnlessLate(run)
    await this.#settle(runs)
  }

  /** Asks the handler that runs to end. */
  abort(reason: Error): void {
    this.#current?.abort(reason)
  }

  /** Tells what has become of the runs, once it is committed. */
  report(): void {
    for (const [run, outcome] of this.#outcomes) {
      if (outcome.kind === 'finish') this.#report.finished(run)
      else if (outcome.kind === 'look') this.#report.found(run, foundAfter(run))
      else this.#report.written(run, outcome, this.#states.get(run))
    }
  }

  async #runUnlessLate(run: ActiveRun): Promise<void> {
    const late = this.#parts.stopping.aborted || (this.#outcomes.size > 0 && performance.now() >= this.#until)
    if (late) this.#outcomes.set(run, { kind: 'release' })
    else await this.#runOne(run)
  }

  async #runOne(run: ActiveRun): Promise<void> {
    const transaction = new TaskTransaction(this.#parts.transaction, () => this.#savepoints.ensure())
    const end = await this.#call(run, transaction)
    if (end.threw) run.settled = undefined
    this.#outcomes.set(run, outcomeOf(run, end, true))
    if (!transaction.used) return
    if (end.threw) {
      await this.#takeBack()
      return
    }
    this.#writers.push(run)
    this.#careful = Math.max(0, this.#careful - 1)
    if (this.#careful > 0 || this.#writers.length >= PER_SAVEPOINT) this.#closeSavepoint()
  }

  /** After a failure: the innocent since the savepoint run again, or go back if it is late for that. */
  async #takeBack(): Promise<void> {
    const innocent = this.#writers
    this.#writers = []
    await this.#savepoints.rollBack()
    this.#careful = CAREFUL_AFTER_FAILURE
    for (const run of innocent) {
      run.settled = undefined
      await this.#runUnlessLate(run)
    }
  }

  #closeSavepoint(): void {
    this.#savepoints.close()
    this.#writers = []
  }

  async #call(run: ActiveRun, transaction: TaskTransaction): Promise<HandlerEnd> {
    const { task, context, type } = this.#parts
    const { events, options } = context
    const unreadable = unreadableIn(run.row)
    if (unreadable !== undefined) return { threw: true, error: unreadable.error }
    if (!this.#outcomes.has(run) && events.listenerCount('started') > 0) {
      events.emit('started', taskReference(type, run))
    }
    const limitMs = Math.min(type.runLimitMs ?? Number.POSITIVE_INFINITY, type.timeoutMs ?? Number.POSITIVE_INFINITY)
    const cancelTimer = startTimer(limitMs, () => run.abort(new RunLimitError(run.id, limitMs)), { unref: true })
    runsOf(task).set(run.id, run)
    run.transaction = transaction
    run.phase = 'running'
    run.startedAt = performance.now()
    this.#current = run
    try {
      await untilAbandoned(run, options.abortGraceMs, async () => runHandler(context, type, task, run))
      await transaction.end()
      if (transaction.failed) return { threw: true, error: new TransactionRolledBackError() }
      return (await tookBack(this.#parts.transaction, type, run))
        ? { threw: true, error: new NotSettledError(true) }
        : { threw: false }
    } catch (error) {
      await transaction.end()
      if (isInstance(error, AbandonedError)) throw error
      return { threw: true, error }
    } finally {
      this.#current = undefined
      run.durationMs = performance.now() - run.startedAt
      runsOf(task).delete(run.id)
      cancelTimer()
    }
  }

  async #settle(runs: readonly ActiveRun[]): Promise<void> {
    const { transaction, type } = this.#parts
    const having = (kind: Outcome['kind']) => runs.filter((run) => this.#outcomes.get(run)?.kind === kind)
    const finished = having('finish')
    // Those that it leaves out the handler has dealt with, by statements of its own in this transaction.
    if (finished.length > 0) await finishMany(transaction, type, finished)
    const late = having('release')
    const released = new Set(late.length > 0 ? await release(transaction, type, late) : [])
    for (const run of late) this.#states.set(run, released.has(run.id) ? 'ready' : undefined)
    for (const [run, outcome] of this.#outcomes) {
      if (outcome.kind !== 'retry' && outcome.kind !== 'cancel') continue
      this.#states.set(run, await writeOutcome(transaction, type, run, outcome, undefined))
    }
  }
}

/** What a look would find of a run whose handler has settled it here. */
function foundAfter({ settled }: ActiveRun): 'finished' | 'canceled' | 'lost' {
  if (settled?.verb === 'cancel') return 'canceled'
  return settled?.verb === 'retry' ? 'lost' : 'finished'
}
