import { cancel, type Queryable, release, retry, type TaskState, type TypeDescription } from '@pg-tasks/sql'
import { boundedText } from '../../errors/bounded-text.js'
import type { ActiveRun } from '../run/active-run.js'
import { describeFailure } from './describe-failure.js'
import { failureKind } from './failure-kind.js'
import type { SingleOutcome } from './outcome.js'

/** Longest comment of a RetryTask or CancelTask, in bytes. */
const LONGEST_COMMENT = 64 * 1024

/**
 * Writes one run's outcome, fenced by its token.
 *
 * @param failure - why the attempt before this one failed; where the row refused what the handler wished for, that is left out
 * @returns the task's new state where it is retried, and whether a release gave anything back
 */
export async function writeOutcome(
  connection: Queryable,
  type: TypeDescription,
  run: ActiveRun,
  outcome: SingleOutcome,
  failure: unknown,
): Promise<TaskState | undefined> {
  const { id, token } = run
  switch (outcome.kind) {
    case 'retry': {
      const { delayMs, plannedTo, comment } =
        failure !== undefined && failureKind(failure) === 'row' ? {} : outcome.options
      const error = describeFailure(outcome.error)
      const { reason } = outcome
      const wish = { delayMs, plannedTo, comment: storable(comment), error, token, reason }
      return (await retry(connection, type, id, wish)).state
    }
    case 'cancel':
      await cancel(connection, type, id, { comment: storable(outcome.comment), token })
      return 'canceled'
    case 'release': {
      const released = await release(connection, type, [run])
      return released.length > 0 ? 'ready' : undefined
    }
  }
}

function storable(comment: string | undefined): string | undefined {
  return comment === undefined ? undefined : boundedText(comment, LONGEST_COMMENT)
}
