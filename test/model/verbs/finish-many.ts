import { type Attempt, answered } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { isFree, rowOf } from '../world/rows.js'
import { isRunning } from '../world/task-row.js'
import type { World } from '../world/world.js'
import { finished } from './finish.js'

/** Never waits and never refuses: names the runs that it did not finish, and why. */
export function finishMany(world: World, session: number, { runs }: CallOf<'finishMany'>): Attempt {
  let after = world
  const others: [task: number, outcome: string][] = []
  for (const run of runs) {
    const key = taskOfRun(world, run)
    const task = rowOf(world, session, 'tasks', key)
    if (task === undefined) others.push([key, 'missing'])
    else if (task.run !== run) others.push([key, 'stale'])
    else if (task.finishedAt !== null) others.push([key, 'finished'])
    else if (!isRunning(task)) others.push([key, 'stale'])
    else if (!isFree(world, session, 'tasks', key)) others.push([key, 'locked'])
    else after = finished(after, session, task, world.now)
  }
  return answered(
    after,
    others.toSorted(([one], [other]) => one - other),
  )
}

export function taskOfRun(world: World, run: number): number {
  const begun = world.runs[run - 1]
  if (begun === undefined) throw new Error(`There was no run ${run}.`)
  return begun.task
}
