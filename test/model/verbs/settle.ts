import type { Attempt } from '../world/answer.js'
import { isFree, rowOf } from '../world/rows.js'
import { isRunning, type TaskRow } from '../world/task-row.js'
import type { Seen, World } from '../world/world.js'

/** The one row that an outcome settles. */
export interface Target {
  readonly task: number
  readonly run: number | null
}

/**
 * Settles a running task, with its token if one is given, as `settled` says; else as `otherwise` says.
 * PostgreSQL's order: a row that doesn't match is not waited for; having waited, the row is looked at again.
 */
export function settle(
  world: World,
  session: number,
  { task: key, run }: Target,
  seen: Seen | undefined,
  settled: (task: TaskRow, now: number) => Attempt,
  otherwise: (task: TaskRow | undefined, changedMeanwhile: boolean) => Attempt,
): Attempt {
  const task = rowOf(world, session, 'tasks', key)
  const changedMeanwhile = seen !== undefined && seen.row !== task
  if (task === undefined || !isRunning(task) || (run !== null && task.run !== run))
    return otherwise(task, changedMeanwhile)
  if (!isFree(world, session, 'tasks', key))
    return { waitsFor: { table: 'tasks', key }, seen: { now: world.now, row: task } }
  return settled(task, lookedAt(world, task, seen))
}

/** When a statement read the clock: anew after it had to wait, but only if the row has changed meanwhile. */
export function lookedAt({ now }: World, task: TaskRow, seen: Seen | undefined): number {
  return seen !== undefined && seen.row === task ? seen.now : now
}
