import { heldRuns, type Queryable, type TypeDescription } from '@pg-tasks/sql'
import type { ActiveRun } from '../run/active-run.js'

/**
 * Whether a handler has settled its task in this transaction and then gone back to a savepoint of its own, so that the task is as it
 * was: the rest of its work must not be committed without an outcome.
 */
export async function tookBack(transaction: Queryable, type: TypeDescription, run: ActiveRun): Promise<boolean> {
  return run.settled !== undefined && (await heldRuns(transaction, type, [run])).length > 0
}
