import {
  acquire,
  closeBatch,
  limitIdleTransaction,
  openBatch,
  suspectBatches,
  type TypeDescription,
} from '@pg-tasks/sql'
import { describeThrown } from '../../errors/describe-thrown.js'
import { fromDatabaseError } from '../../errors/from-database-error.js'
import { isTransient } from '../../errors/is-transient.js'
import { NotSettledError, TransactionRolledBackError, WorkerStoppingError } from '../../errors/run-errors.js'
import type { Claimed } from '../../task/claimed.js'
import { type Task, withTextId } from '../../task/task.js'
import { wait } from '../../timers/wait.js'
import { traceAcquire } from '../acquire/trace-acquire.js'
import { ActiveRun } from '../run/active-run.js'
import { runHandler } from '../run/run-handler.js'
import { Steps } from '../run/steps.js'
import { untilAbandoned } from '../run/until-abandoned.js'
import { type TypeContext, typeReference } from '../type/type-context.js'
import type { WorkerSession } from '../worker-session.js'
import { Batch } from './batch.js'
import { TaskTransaction } from './task-transaction.js'
import { tookBack } from './took-back.js'

/**
 * Between two looks for tasks that run singly, however full the batches are; and how long nothing else is looked for, once there
 * are some where a batch finds none. In milliseconds.
 */
const SINGLES_MS = 1_000

/** One of the tasks stands in a batch that did not commit. */
class SuspectError extends Error {}

/** What a batch runner tells. */
export interface BatchRunnerListener {
  readonly onAcquired: (rows: readonly Claimed[]) => void
}

/**
 * Runs the tasks of a type with `settle: 'one_transaction'` (migration 0026): batches of them in one transaction each, and
 * singly, with a lease, what can't be run like that: suspects, and tasks of types with limits.
 */
export class BatchRunner {
  readonly #task: Task<object>
  readonly #size: number
  readonly #context: TypeContext
  readonly #listener: BatchRunnerListener
  readonly #session: WorkerSession
  readonly #steps: Steps
  readonly #stopping = new AbortController()
  #batch: Batch | undefined
  #working: Promise<number> | undefined
  #singlesAt = Number.NEGATIVE_INFINITY
  #singlesUntil = Number.NEGATIVE_INFINITY
  #foundNothing = false

  constructor(
    task: Task<object>,
    size: number,
    context: TypeContext,
    type: () => TypeDescription,
    listener: BatchRunnerListener,
  ) {
    this.#task = task
    this.#size = size
    this.#context = context
    this.#listener = listener
    this.#session = context.open()
    this.#steps = new Steps(context, type)
  }

  /** Handlers that run in a batch. */
  get running(): number {
    return this.#batch === undefined ? 0 : 1
  }

  /**
   * Runs a batch.
   *
   * @param slotsEmpty - whether nothing runs singly, beside which no batch may be
   * @param slept - whether the worker has slept until now
   * @returns how many tasks it acquired; undefined if it is time to look for one that runs singly
   */
  async run(type: TypeDescription, slotsEmpty: boolean, slept: boolean): Promise<number | undefined> {
    if (this.#stopping.signal.aborted) return 0
    this.#foundNothing = false
    if (!slotsEmpty || performance.now() < this.#singlesUntil) return undefined
    if (performance.now() - this.#singlesAt < SINGLES_MS) {
      this.#working = this.#runBatch(type, slept)
      const count = await this.#working.finally(() => {
        this.#working = undefined
      })
      if (count > 0) return count
      this.#foundNothing = true
    }
    this.#singlesAt = performance.now()
    return undefined
  }

  /** So many were taken that run singly. */
  tookSingly(count: number): void {
    if (count > 0 && this.#foundNothing) this.#singlesUntil = performance.now() + SINGLES_MS
  }

  /** Runs one task, which has a lease, in a transaction of its own. */
  async alone(run: ActiveRun, type: TypeDescription): Promise<void> {
    await this.#session.transaction(async (session) => {
      if (type.timeoutMs !== null) await limitIdleTransaction(session, type.timeoutMs)
      const transaction = new TaskTransaction(session)
      run.transaction = transaction
      try {
        await untilAbandoned(run, this.#context.options.abortGraceMs, async () =>
          runHandler(this.#context, type, this.#task, run),
        )
      } finally {
        await transaction.end()
      }
      if (transaction.failed) throw new TransactionRolledBackError()
      if (run.settled === undefined) await this.#task.finish(session, run.row)
      else if (await tookBack(session, type, run)) throw new NotSettledError(true)
    })
  }

  /** Starts no more tasks; resolves when the batch has ended, whose handler is aborted after the time. */
  async stop(timeoutMs: number, signal: AbortSignal): Promise<void> {
    this.#stopping.abort()
    const working = this.#working?.catch(() => {})
    if (working === undefined) return
    const outcome = await wait<'ended'>(timeoutMs, { signal }, (end) => void working.then(() => end('ended')))
    if (outcome !== 'ended') this.#batch?.abort(new WorkerStoppingError())
    await working
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  async #runBatch(type: TypeDescription, slept: boolean): Promise<number> {
    const { settling, workerId } = this.#context
    let count = 0
    let batchId: string | undefined
    try {
      await this.#session.transaction(async (transaction) => {
        if (type.timeoutMs !== null) await limitIdleTransaction(transaction, type.timeoutMs)
        const maxNum = this.#size
        const rows = await traceAcquire({ workerId, ...typeReference(type), maxNum, slept }, () =>
          acquire<Claimed>(transaction, type, { maxNum, workerId, oneTransaction: true }),
        )
        count = rows.length
        if (count === 0) return
        const runs = rows.map((row) => new ActiveRun(withTextId(row), this.#context.logger, this.#steps))
        // Committed before the first of them runs: it tells who ended this process, if one of them does.
        batchId = await openBatch(
          settling,
          type.tableId,
          workerId,
          runs.map(({ id }) => id),
        )
        if (batchId === undefined) throw new SuspectError('A task stands in a batch that did not commit')
        await closeBatch(transaction, batchId)
        this.#tellAcquired(type, rows)
        const { signal: stopping } = this.#stopping
        this.#batch = new Batch({ task: this.#task, context: this.#context, type, transaction, stopping })
        await this.#batch.run(runs)
      })
      this.#batch?.report()
      return count
    } catch (error) {
      await this.#onRolledBack(type, batchId, error)
      return 0
    } finally {
      this.#batch = undefined
    }
  }

  #tellAcquired(type: TypeDescription, rows: readonly Claimed[]): void {
    this.#listener.onAcquired(rows)
    const { events } = this.#context
    if (events.listenerCount('acquired') > 0) events.emit('acquired', { ...typeReference(type), count: rows.length })
  }

  /** Its tasks run singly from now on, unless it was the worker that ended it. What isn't done here, the next batch finds. */
  async #onRolledBack(type: TypeDescription, batchId: string | undefined, error: unknown): Promise<void> {
    const { settling, logger, events } = this.#context
    if (error instanceof SuspectError) {
      const count = await suspectBatches(settling, type.tableId)
      logger.warn({ ...typeReference(type), count }, 'Tasks of a batch that did not commit run singly now')
      return
    }
    if (batchId !== undefined) {
      if (this.#stopping.signal.aborted) await closeBatch(settling, batchId).catch(() => {})
      else await suspectBatches(settling, type.tableId).catch(() => {})
    }
    if (batchId === undefined || isTransient(error)) throw error
    logger.warn(
      { ...typeReference(type), error: describeThrown(error) },
      'A batch could not be committed; its tasks run singly',
    )
    events.emit('error', fromDatabaseError(error), typeReference(type))
  }
}

/** For the slots of such a type: nothing is taken ahead of a batch. */
export function singly(context: TypeContext): TypeContext {
  return { ...context, options: { ...context.options, batchSize: 1 } }
}
