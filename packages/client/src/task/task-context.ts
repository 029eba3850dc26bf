import type { Connection, Queryable } from '@pg-tasks/sql'
import type { TaskLogger } from '../logger/logger.js'
import type { Stored } from './stored.js'

/** What the function of a step is given. */
export interface StepContext {
  /**
   * For an outside service that recognises repetitions: the same at every attempt of the task, and different in every other
   * task, step and database (also in a copy of this one that was restored elsewhere). 32 hexadecimal digits.
   */
  readonly idempotencyKey: string
}

/** What a handler is given besides its task. */
export interface TaskContext {
  /**
   * Aborted when the run should stop: its task was canceled, reset or taken over (reason: `LeaseLostError`), its run limit
   * has passed (`RunLimitError`), or the worker stops and its patience is over (`WorkerStoppingError`).
   */
  readonly signal: AbortSignal
  /** Which execution this is, from 1. */
  readonly attempt: number
  /** The worker's logger: `logger.info('sent')`, or with fields before the message. */
  readonly logger: TaskLogger
  /**
   * With `settle: 'one_transaction'`: the transaction in which this task and others of its batch are run and settled. A handler
   * that throws takes back what it wrote, and no more.
   *
   * Statements run one after the other, also those that aren't awaited; after the handler has ended, none does. BEGIN, COMMIT
   * and ROLLBACK are the worker's; savepoints may be used.
   *
   * @throws InvalidArgumentError without that option
   */
  readonly tx: Queryable
  /**
   * Does a step once: if an earlier attempt did and marked it, its value is returned and `work` isn't called; else `work` runs
   * and the mark is written. Between the two lies the one gap in which the process may die: hand `idempotencyKey` to the
   * outside service, and it is closed there too.
   *
   * The value is stored as JSON, and every attempt is given what comes back of it, the first one too: a `Date` as text. One
   * that is no JSON (a `bigint`, a circle) is logged and comes back as undefined.
   *
   * The mark is written on a connection of the worker's. A transaction that has finished the task holds it until it commits: do
   * steps before that, or in that transaction.
   *
   * @param step - its name, unique in the task type
   * @throws TaskNotRunningError if the task is no longer this run's: nothing is marked
   * @throws TaskInUseError if another transaction goes on holding the task
   * @throws InvalidArgumentError if this run is doing the step at this moment
   * @throws what `work` throws
   */
  once<Value>(step: string, work: (context: StepContext) => Promise<Value>): Promise<Stored<Value>>
  /**
   * The same, with the mark written in the caller's transaction: it is there if and only if the transaction commits, so a step
   * whose work is in that transaction too has no gap at all.
   */
  once<Value>(
    connection: Connection,
    step: string,
    work: (context: StepContext) => Promise<Value>,
  ): Promise<Stored<Value>>
}
