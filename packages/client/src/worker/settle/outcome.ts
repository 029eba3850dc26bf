import type { GoneReason } from '@pg-tasks/sql'
import { isInstance } from '../../errors/is-instance.js'
import { NotSettledError, RunLimitError, WorkerStoppingError } from '../../errors/run-errors.js'
import { CancelTask } from '../../task/cancel-task.js'
import type { SettledByHandler } from '../../task/held-runs.js'
import { RetryTask, type RetryTaskOptions } from '../../task/retry-task.js'

/** How a handler ended. */
export type HandlerEnd = { readonly threw: false } | { readonly threw: true; readonly error: unknown }

/** An outcome that is written for one run alone. */
export type SingleOutcome =
  | {
      readonly kind: 'retry'
      readonly error: unknown
      readonly reason: 'error' | 'run_limit'
      readonly options: RetryTaskOptions
    }
  | { readonly kind: 'cancel'; readonly comment: string | undefined }
  /** Given back without counting: the worker, not the handler, ended it. */
  | { readonly kind: 'release' }

/** What the worker does about a run whose handler has ended. */
export type Outcome =
  | SingleOutcome
  | { readonly kind: 'finish' }
  /** The handler settled it, or should have: look whether that was committed, and if not, do the other. */
  | { readonly kind: 'look'; readonly otherwise: SingleOutcome }

/** What the decision depends on. */
export interface EndedRun {
  readonly settled: SettledByHandler | undefined
  readonly abortReason: Error | undefined
}

/** Decides; values in, value out. */
export function outcomeOf(run: EndedRun, end: HandlerEnd, autoFinish: boolean): Outcome {
  if (run.settled === undefined && !end.threw && autoFinish) return { kind: 'finish' }
  const otherwise = end.threw ? afterThrow(run, end.error) : afterReturn(run)
  return run.settled === undefined && end.threw ? otherwise : { kind: 'look', otherwise }
}

/** Whether what was found may be what the handler itself has done to its task. */
export function isOwnDoing(settled: SettledByHandler | undefined, found: GoneReason): boolean {
  switch (settled?.verb) {
    case 'finish':
      return found === 'finished' || found === 'missing'
    case 'retry':
      // Or somebody else's doing: a retry takes the token away. Its transaction tells.
      return found === 'lost'
    case 'cancel':
      return found === 'canceled'
    default:
      return false
  }
}

function afterThrow(run: EndedRun, error: unknown): SingleOutcome {
  if (isInstance(error, CancelTask)) return { kind: 'cancel', comment: error.comment }
  if (isInstance(error, RetryTask)) return retryBecause(error, error.options)
  return stopped(run) ?? limited(run) ?? retryBecause(error)
}

/** Nothing that it settled was committed, or it settled nothing. */
function afterReturn(run: EndedRun): SingleOutcome {
  return stopped(run) ?? limited(run) ?? retryBecause(new NotSettledError(run.settled !== undefined))
}

function stopped({ abortReason }: EndedRun): SingleOutcome | undefined {
  return abortReason instanceof WorkerStoppingError ? { kind: 'release' } : undefined
}

function limited({ abortReason }: EndedRun): SingleOutcome | undefined {
  if (!(abortReason instanceof RunLimitError)) return undefined
  return { kind: 'retry', error: abortReason, reason: 'run_limit', options: {} }
}

function retryBecause(error: unknown, options: RetryTaskOptions = {}): SingleOutcome {
  return { kind: 'retry', error, reason: 'error', options }
}
