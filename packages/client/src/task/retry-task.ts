import type { RetryOptions } from '@pg-tasks/sql'
import { refuseUnknown } from '../options/refuse-unknown.js'
import { checkRetryTime } from './check-delay.js'

/** What a handler may say about its next execution. */
export type RetryTaskOptions = Pick<RetryOptions, 'delayMs' | 'plannedTo' | 'comment'> & { readonly cause?: unknown }

/**
 * Thrown by a handler to choose when the task runs again, instead of the type's backoff. It counts as an execution.
 *
 * @example
 * throw new RetryTask({ delayMs: 60_000, comment: 'the bank is closed' })
 */
export class RetryTask extends Error {
  override readonly name = 'RetryTask'
  readonly options: RetryTaskOptions

  /** @throws InvalidArgumentError if the time can't be used, InvalidOptionError for an unknown option */
  constructor(options: RetryTaskOptions = {}) {
    super(
      options.comment ?? 'The task asked to be retried',
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    refuseUnknown('RetryTask', options, ['delayMs', 'plannedTo', 'comment', 'cause'])
    checkRetryTime(options)
    this.options = options
  }
}
