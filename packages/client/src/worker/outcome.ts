import { RunLimitError, WorkerStoppingError } from '../errors/run-errors.js'
import { CancelTask } from '../task/cancel-task.js'
import { RetryTask, type RetryTaskOptions } from '../task/retry-task.js'

/** How a handler ended. */
export type HandlerEnd = { readonly threw: false } | { readonly threw: true; readonly error: unknown }

/** What the worker does about a run whose handler has ended. */
export type Outcome =
  | { readonly kind: 'finish' }
  | {
      readonly kind: 'retry'
      readonly error: unknown
      readonly reason: 'error' | 'run_limit'
      readonly options: RetryTaskOptions
    }
  | { readonly kind: 'cancel'; readonly comment: string | undefined }
  /** Given back without counting: the worker, not the handler, ended it. */
  | { readonly kind: 'release' }
  /** The handler settled it, or should have: look whether that was committed, else retry with this error. */
  | { readonly kind: 'look'; readonly error: unknown }

/** What the decision depends on. */
export interface EndedRun {
  readonly settledByHandler: boolean
  readonly abortReason: Error | undefined
}

/** Decides; values in, value out. */
export function outcomeOf(run: EndedRun, end: HandlerEnd, autoFinish: boolean): Outcome {
  if (run.settledByHandler) return { kind: 'look', error: end.threw ? end.error : undefined }
  if (!end.threw) return autoFinish ? { kind: 'finish' } : { kind: 'look', error: undefined }
  const { error } = end
  if (run.abortReason instanceof WorkerStoppingError) return { kind: 'release' }
  if (error instanceof CancelTask) return { kind: 'cancel', comment: error.comment }
  if (error instanceof RetryTask) return { kind: 'retry', error, reason: 'error', options: error.options }
  const reason = run.abortReason instanceof RunLimitError ? 'run_limit' : 'error'
  return { kind: 'retry', error: reason === 'run_limit' ? run.abortReason : error, reason, options: {} }
}
