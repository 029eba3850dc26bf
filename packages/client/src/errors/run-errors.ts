import { PgTasksError } from './pg-tasks-error.js'

/** The reason of a run's `signal`: it ran longer than the type's `run_limit`. The task is retried. */
export class RunLimitError extends PgTasksError {
  override readonly name = 'RunLimitError'

  constructor(taskId: string, limitMs: number) {
    super('RUN_LIMIT', `Task ${taskId} has run longer than its limit of ${limitMs} ms.`)
  }
}

/** The reason of a run's `signal`: the worker stops and waits no longer. The task is given back and runs elsewhere. */
export class WorkerStoppingError extends PgTasksError {
  override readonly name = 'WorkerStoppingError'

  constructor() {
    super('WORKER_STOPPING', 'The worker is stopping and waits no longer for this run; its task is given back.')
  }
}

/** Stored for a run that returned without an outcome: nothing it settled was committed, or it settled nothing. */
export class NotSettledError extends PgTasksError {
  override readonly name = 'NotSettledError'

  constructor(attempted: boolean) {
    super(
      'NOT_SETTLED',
      attempted
        ? 'The run finished, retried or canceled its task in a transaction that was not committed.'
        : 'The run returned without having finished, retried or canceled its task (autoFinish is off).',
    )
  }
}

/** COMMIT was answered with a rollback: a statement of the transaction had failed, and its error was not passed on. */
export class TransactionRolledBackError extends PgTasksError {
  override readonly name = 'TransactionRolledBackError'

  constructor() {
    super(
      'TRANSACTION_ROLLED_BACK',
      'The transaction was rolled back at COMMIT: a statement in it had failed. Let errors of statements reach inTransaction.',
    )
  }
}
