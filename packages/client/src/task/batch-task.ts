import { InvalidOptionError } from '../errors/invalid-option-error.js'
import type { Claimed, Columns } from './claimed.js'
import { Task } from './task.js'
import type { TaskContext } from './task-context.js'
import type { TaskOptions } from './task-options.js'

/** One task of a batch: its row, its context, and the way to say that it did not succeed. */
export interface BatchRun<Own extends Columns = object> {
  readonly task: Claimed<Own>
  readonly context: TaskContext
  /**
   * This task did not succeed, whatever becomes of the others: it is retried with the error stored, or as `RetryTask` or
   * `CancelTask` say. The first call counts.
   */
  fail(error: unknown): void
}

interface Waiting<Own extends Columns> {
  readonly run: BatchRun<Own>
  readonly settle: (end: { readonly error: unknown } | undefined) => void
  failure: { readonly error: unknown } | undefined
}

/**
 * A task type whose tasks are done several at a time: one call of `runMany` for what was acquired together, up to the
 * concurrency given to `worker.add`. Each task has an outcome of its own.
 *
 * @example
 * class IndexProducts extends BatchTask<{ product_id: string }> {
 *   override async runMany(runs: ReadonlyArray<BatchRun<{ product_id: string }>>) {
 *     const refused = await search.index(runs.map((run) => run.task.product_id))
 *     for (const run of runs) if (refused.has(run.task.product_id)) run.fail(new Error('refused'))
 *   }
 * }
 * worker.add(new IndexProducts(), 100)
 */
export abstract class BatchTask<Own extends Columns = object> extends Task<Own> {
  #waiting: Array<Waiting<Own>> = []

  /** @throws InvalidOptionError that names the option */
  constructor(options: TaskOptions = {}) {
    super(options)
    if (this.options.settle === 'one_transaction') {
      throw new InvalidOptionError(
        new.target.name,
        'settle',
        "can't be 'one_transaction' in a BatchTask, whose tasks run at the same time; extend Task.",
      )
    }
  }

  /**
   * Does the tasks of a batch. When it returns, those that were not failed are finished; when it throws, they are retried with
   * that error.
   */
  abstract runMany(runs: ReadonlyArray<BatchRun<Own>>): Promise<unknown>

  /** Called by the worker for each task; those of one turn make a batch. */
  override run(task: Claimed<Own>, context: TaskContext): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting<Own> = {
        failure: undefined,
        settle: (end) => (end === undefined ? resolve() : reject(end.error as Error)),
        run: Object.freeze({
          task,
          context,
          fail: (error: unknown) => {
            waiting.failure ??= { error }
          },
        }),
      }
      this.#waiting.push(waiting)
      // The worker fills its free slots in one turn; this comes after it.
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#runWaiting())
    })
  }

  async #runWaiting(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    let thrown: { readonly error: unknown } | undefined
    try {
      await this.runMany(batch.map(({ run }) => run))
    } catch (error) {
      thrown = { error }
    }
    for (const { settle, failure } of batch) settle(failure ?? thrown)
  }
}
