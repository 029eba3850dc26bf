import { describeThrown } from '../../errors/describe-thrown.js'
import { isInstance } from '../../errors/is-instance.js'
import { RetryTask } from '../../task/retry-task.js'

/** Why a task is retried, as its `last_error` and the log have it. What a RetryTask says is no error, so it has no stack. */
export function describeFailure(error: unknown): string {
  if (!isInstance(error, RetryTask)) return describeThrown(error)
  try {
    const asked = describeThrown(`RetryTask: ${error.message}`)
    return error.cause === undefined ? asked : `${asked}\ncaused by: ${describeThrown(error.cause)}`
  } catch {
    // Its properties may be the user's own.
    return 'RetryTask: it cannot be described.'
  }
}

/** Whether a handler only asked to be run again, and names no error as the reason. */
export function isPlainRetry(error: unknown): boolean {
  try {
    return error instanceof RetryTask && error.cause === undefined
  } catch {
    return false
  }
}
