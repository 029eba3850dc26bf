import {
  acquire,
  type CleanOptions,
  type Connection,
  cancel,
  clean,
  type EnqueueOutcome,
  enqueueMany,
  enqueueUnique,
  type FailedTask,
  type FailedTasksOptions,
  failedTasks,
  finish,
  type OnConflict,
  type Queryable,
  type ResetFailedOptions,
  type ResetOptions,
  type RetryOptions,
  reset,
  resetFailed,
  retry,
  setOnFailure,
  type TaskState,
  toPreparedQueryable,
  toQueryable,
} from '@pg-tasks/sql'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { isOutcomeRefused } from '../errors/is-outcome-refused.js'
import { checkDueTime, checkRetryTime } from './check-delay.js'
import { checkTasks } from './check-tasks.js'
import type { Claimed, Columns, NewTask } from './claimed.js'
import { type HeldRun, runsOf, type SettledByHandler } from './held-runs.js'
import { checkKnown } from './known-options.js'
import type { CommentOption, EnqueuedId, EnqueueTaskOptions } from './method-options.js'
import { snakeCase } from './snake-case.js'
import type { TaskContext } from './task-context.js'
import { idOf, type TaskOrId } from './task-id.js'
import { type ResolvedTaskOptions, resolveTaskOptions, type TaskOptions } from './task-options.js'
import { traceEnqueue } from './trace-enqueue.js'

/**
 * A task type: the table that holds its tasks, and what is done with each of them.
 *
 * Every method but `run` takes the caller's connection first (a pg Client, PoolClient or Pool, a Kysely or Kysely Transaction,
 * or anything with `query(text, values)`) and becomes part of the transaction that is open there; none opens one, and none
 * needs another connection.
 *
 * @example
 * class SendInvoice extends Task<{ order_id: string; email: string }> {
 *   override async run(task: Claimed<{ order_id: string; email: string }>) {
 *     await send(task.email)
 *   }
 * }
 */
export abstract class Task<Own extends Columns = object> {
  /** Where the tasks live, and how runs end. */
  readonly options: ResolvedTaskOptions

  /** @throws InvalidOptionError that names the option */
  constructor(options: TaskOptions = {}) {
    const className = new.target.name
    this.options = resolveTaskOptions(className === '' ? 'Task' : className, snakeCase(className), options)
  }

  /**
   * Does one task. Returning finishes it (unless `autoFinish` is off), throwing retries it with the error stored;
   * `RetryTask` and `CancelTask` choose otherwise.
   */
  abstract run(task: Claimed<Own>, context: TaskContext): Promise<unknown>

  /**
   * Enqueues one task; returns its id. It becomes visible, and a worker is woken, when the caller's transaction commits.
   * With `onConflict`, the id is that of the task that is there, or null where that can't be told: an ignored one whose unique
   * column is computed, left to its default or changed by a trigger, and one that a trigger swallowed. `enqueueUnique` says
   * which it was.
   *
   * @throws the driver's error if a column is unknown, has the wrong type or misses a value
   * @throws InvalidArgumentError if the task is not an object of columns
   */
  async enqueue<Conflict extends OnConflict | undefined = undefined>(
    connection: Connection,
    task: NewTask<Own>,
    options: EnqueueTaskOptions<Conflict> = {},
  ): Promise<EnqueuedId<Conflict>> {
    const [id] = await this.enqueueMany(connection, [task], options)
    return id as EnqueuedId<Conflict>
  }

  /**
   * Enqueues tasks in one statement (neighbours with the same columns); returns their ids in the order given. With `onConflict`
   * as {@link Task.enqueue}.
   */
  async enqueueMany<Conflict extends OnConflict | undefined = undefined>(
    connection: Connection,
    tasks: ReadonlyArray<NewTask<Own>>,
    options: EnqueueTaskOptions<Conflict> = {},
  ): Promise<Array<EnqueuedId<Conflict>>> {
    checkKnown('enqueue', options)
    const { onConflict, delayMs } = options
    if (onConflict !== undefined) {
      const outcomes = await this.enqueueUnique(connection, tasks, { onConflict, delayMs })
      return outcomes.map(({ id }) => id as EnqueuedId<Conflict>)
    }
    checkTasks(tasks)
    checkDueTime(tasks, delayMs)
    return traceEnqueue(this.options, tasks, (rows) =>
      this.#askOften(connection, (queryable) => enqueueMany(queryable, this.options, rows, { delayMs })),
    )
  }

  /**
   * Enqueues tasks of a type whose waiting tasks are unique (`uniqueWhile`); tells for each what became of it, in the order
   * given. Callers that enqueue the same keys at once never get an error for it.
   */
  async enqueueUnique(
    connection: Connection,
    tasks: ReadonlyArray<NewTask<Own>>,
    options: { readonly onConflict: OnConflict; readonly delayMs?: number | undefined },
  ): Promise<EnqueueOutcome[]> {
    checkKnown('enqueue', options)
    checkTasks(tasks)
    checkDueTime(tasks, options.delayMs)
    return traceEnqueue(this.options, tasks, (rows) =>
      this.#ask(connection, (queryable) => enqueueUnique(queryable, this.options, rows, options)),
    )
  }

  /**
   * Claims up to `maxNum` due tasks for code that runs them without a Worker; each carries its own lease, `timeout` long.
   *
   * @param maxNum - from 1 to 10,000
   */
  async acquire(connection: Connection, maxNum = 1): Promise<Array<Claimed<Own>>> {
    const rows = await this.#ask(connection, (queryable) => acquire<Claimed<Own>>(queryable, this.options, { maxNum }))
    return rows.map(withTextId)
  }

  /**
   * Finishes a running task, in the same transaction as the work if the connection is in one.
   *
   * @throws TaskNotRunningError if the task is not running, or not by this run: let it roll the transaction back
   * @throws TaskNotFoundError if there is no such task
   */
  async finish(connection: Connection, task: TaskOrId, options: CommentOption = {}): Promise<void> {
    checkKnown('finish', options)
    await this.#settle(connection, task, 'finish', (queryable, { id, token }) =>
      finish(queryable, this.options, id, { ...options, token }),
    )
  }

  /**
   * Makes a running task wait for another execution: until `plannedTo`, for `delayMs`, or for the type's backoff. Once its
   * executions are used up it is failed instead. Returns its new state.
   *
   * @throws TaskNotRunningError, TaskNotFoundError as {@link Task.finish}
   */
  async retry(connection: Connection, task: TaskOrId, options: Omit<RetryOptions, 'token'> = {}): Promise<TaskState> {
    checkKnown('retry', options)
    checkRetryTime(options)
    return this.#settle(connection, task, 'retry', async (queryable, { id, token, run }) => {
      const retried = await retry(queryable, this.options, id, { ...options, token })
      if (run !== undefined) run.settled = { verb: 'retry', retried }
      return retried.state
    })
  }

  /**
   * Cancels a task that has not ended; the `signal` of a running one is aborted, wherever it runs. Returns the state in which
   * it was found; one that had ended stays as it was.
   *
   * @throws TaskNotRunningError if a run cancels its own task and no longer has it
   * @throws TaskNotFoundError if there is no such task
   */
  async cancel(connection: Connection, task: TaskOrId, options: CommentOption = {}): Promise<TaskState> {
    checkKnown('cancel', options)
    return this.#settle(connection, task, 'cancel', (queryable, { id, token }) =>
      cancel(queryable, this.options, id, { ...options, token }),
    )
  }

  /**
   * Makes a task ready as if it had never run, whatever its state. A run of it becomes stale. Returns the state in which it
   * was found.
   *
   * @throws ChangedMeanwhileError if it ended while the call waited for its row
   * @throws TaskNotFoundError if there is no such task
   */
  async reset(connection: Connection, task: TaskOrId, options: ResetOptions = {}): Promise<TaskState> {
    checkKnown('reset', options)
    return this.#ask(connection, (queryable) => reset(queryable, this.options, idOf(task), options))
  }

  /**
   * Deletes ended tasks: those that ended before `before`, or longer ago than `olderThanMs`, or than the type's
   * `storage_time`. Returns how many.
   */
  async clean(connection: Connection, options: CleanOptions = {}): Promise<number> {
    checkKnown('clean', options)
    return this.#ask(connection, (queryable) => clean(queryable, this.options, options))
  }

  /**
   * Tasks that failed for good, newest first.
   *
   * @param options.limit - defaults to 100
   * @param options.before - for the next page: `cursor` of the last one
   */
  async failed(connection: Connection, options: FailedTasksOptions = {}): Promise<FailedTask[]> {
    checkKnown('failed', options)
    return this.#ask(connection, (queryable) => failedTasks(queryable, this.options, options))
  }

  /** Resets the failed tasks that meet a condition, or all; with `preview` it only counts them. Returns how many. */
  async resetFailed(connection: Connection, options: ResetFailedOptions = {}): Promise<number> {
    checkKnown('resetFailed', options)
    return this.#ask(connection, (queryable) => resetFailed(queryable, this.options, options))
  }

  /**
   * From now on, whoever fails a task of this type for good enqueues one of the target type in the same statement: the columns
   * that both have by name, and `failed_table`, `failed_id`, `failed_reason`, `failed_error` where the target has them. Null:
   * no more.
   */
  async setOnFailure(connection: Connection, target: Task<never> | Task<object> | null): Promise<void> {
    return this.#ask(connection, (queryable) => setOnFailure(queryable, this.options, target?.options ?? null))
  }

  /** Settles a task; its run, where this process holds it, knows of it unless the database has refused. */
  async #settle<Value>(
    connection: Connection,
    task: TaskOrId,
    verb: SettledByHandler['verb'],
    statement: (queryable: Queryable, fenced: Fenced) => Promise<Value>,
  ): Promise<Value> {
    const fenced = this.#fence(task)
    const { run } = fenced
    const before = run?.settled
    if (run !== undefined) run.settled = { verb }
    try {
      return await this.#askOften(connection, (queryable) => statement(queryable, fenced))
    } catch (error) {
      const changedNothing = isOutcomeRefused(error) || error instanceof InvalidArgumentError
      if (run !== undefined && changedNothing) run.settled = before
      throw error
    }
  }

  /** The token that fences a call: the task's own, or the one that this process holds for the id. */
  #fence(task: TaskOrId): Fenced {
    const id = idOf(task)
    const run = runsOf(this).get(id)
    const given = typeof task === 'object' ? (task.run_token ?? undefined) : undefined
    if (run === undefined || (given !== undefined && given !== run.token)) return { id, token: given, run: undefined }
    return { id, token: run.token, run }
  }

  /** For statements whose results never change their columns. */
  #askOften<Value>(connection: Connection, statement: (queryable: Queryable) => Promise<Value>): Promise<Value> {
    return this.#ask(connection, statement, this.options.preparedStatements)
  }

  async #ask<Value>(
    connection: Connection,
    statement: (queryable: Queryable) => Promise<Value>,
    prepared = false,
  ): Promise<Value> {
    const queryable = queryableOf(connection, prepared)
    try {
      return await statement(queryable)
    } catch (error) {
      throw fromDatabaseError(error)
    }
  }
}

interface Fenced {
  readonly id: string
  readonly token: string | undefined
  /** The run of this process that acts. */
  readonly run: HeldRun | undefined
}

function queryableOf(connection: Connection, prepared: boolean): Queryable {
  try {
    return prepared ? toPreparedQueryable(connection) : toQueryable(connection)
  } catch (error) {
    throw new InvalidArgumentError('connection', (error as Error).message.replace(/^connection /, ''), { cause: error })
  }
}

/** Tables of the original convention have integer ids, which the driver reads as numbers. */
export function withTextId<Row extends { readonly id: string }>(row: Row): Row {
  return typeof row.id === 'string' ? row : { ...row, id: String(row.id) }
}
