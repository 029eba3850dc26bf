import { PgTasksError } from './pg-tasks-error.js'

/** Why a run lost its task. */
export type LeaseLostReason = 'taken_over' | 'reset' | 'canceled' | 'released' | 'finished' | 'gone'

/** The reason of a run's `signal`: the task belongs to this run no more. What the run has not committed, it must not commit. */
export class LeaseLostError extends PgTasksError {
  override readonly name = 'LeaseLostError'
  readonly taskId: string
  readonly reason: LeaseLostReason

  constructor(taskId: string, reason: LeaseLostReason, details: { readonly cause?: unknown } = {}) {
    super(
      'LEASE_LOST',
      `This run has lost task ${taskId} (${reason}): stop, and roll back what is not committed.`,
      details,
    )
    this.taskId = taskId
    this.reason = reason
  }
}
