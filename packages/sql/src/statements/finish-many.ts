import type { Queryable } from '../connection.js'
import { type TaskTypeName, verbOf } from '../task-type-name.js'
import { idsOf, tokensOf } from './run-arrays.js'

/** A run: a task and the token that it was acquired with. */
export interface Run {
  readonly id: string
  readonly token: string
}

/** Why `finishMany` did not finish a run: it was before, its task is gone, it is stale, or its row is locked. */
export type UnfinishedOutcome = 'finished' | 'missing' | 'stale' | 'locked'

/** A run that was not finished. */
export interface UnfinishedRun {
  readonly id: string
  readonly outcome: UnfinishedOutcome
}

/** Finishes runs in one statement, fenced pair by pair; returns those that it did not finish. */
export async function finishMany(
  connection: Queryable,
  type: TaskTypeName,
  runs: readonly Run[],
): Promise<UnfinishedRun[]> {
  const result = await connection.query(
    `select task_id::text as id, outcome from ${verbOf(type, 'finish_many')}($1::bigint[], $2::uuid[])`,
    [idsOf(runs), tokensOf(runs)],
  )
  return result.rows as UnfinishedRun[]
}
