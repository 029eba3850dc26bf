import type { UnfinishedRun } from '@pg-tasks/sql'
import type { ActiveRun } from '../run/active-run.js'

/** Runs that are about to be finished, for whoever acquires: it finishes them in the same transaction. */
export interface LentRuns {
  /** Whether there are some. */
  readonly pending: boolean
  /** Takes them, if they are few. */
  lend(): ActiveRun[]
  /** They are finished, but for these. */
  repay(runs: readonly ActiveRun[], unfinished: readonly UnfinishedRun[]): void
  /** They could not be finished, or nobody knows: they go the usual way. */
  takeBack(runs: readonly ActiveRun[]): void
}
