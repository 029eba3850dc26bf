import { TaskNotFoundError, TaskNotRunningError } from './database-errors.js'

/** Whether the database has refused to end a run, because its task is not, or no longer, that run's: nothing was changed. */
export function isOutcomeRefused(error: unknown): error is TaskNotRunningError | TaskNotFoundError {
  return error instanceof TaskNotRunningError || error instanceof TaskNotFoundError
}
