import { type Attempt, answered } from '../world/answer.js'
import { announced, isFree, leasesOf, rowOf, tasksOf, withLock, withRow, withTask } from '../world/rows.js'
import { isRunning, NO_RUN, type TaskRow } from '../world/task-row.js'
import type { World } from '../world/world.js'
import { backoff } from './backoff.js'

export function rescue(world: World, session: number): Attempt {
  const { world: after, count } = rescued(world, session)
  return answered(after, count)
}

/** Exactly the tasks whose lease is over come back; dead leases that cover nothing any more go. */
export function rescued(world: World, session: number): { readonly world: World; readonly count: number } {
  const lost = tasksOf(world, session).filter(
    (task) => isRunning(task) && isFree(world, session, 'tasks', task.id) && isUncovered(world, session, task),
  )
  const dead = leasesOf(world, session).filter(
    ({ worker, leasedUntil }) => leasedUntil <= world.now && isFree(world, session, 'leases', worker),
  )
  const brought = lost.reduce((before, task) => bringBack(before, session, task), world)
  const closed = dead.reduce((before, { worker }) => {
    const covers = tasksOf(before, session).some((task) => isRunning(task) && task.worker === worker)
    return covers ? withLock(before, session, 'leases', worker) : withRow(before, session, 'leases', worker, null)
  }, brought)
  return { world: lost.length > 0 ? announced(closed, session) : closed, count: lost.length }
}

function isUncovered(world: World, session: number, { worker, runUntil }: TaskRow): boolean {
  if (worker === null) return runUntil !== null && runUntil <= world.now
  const lease = rowOf(world, session, 'leases', worker)
  return lease === undefined || (lease.leasedUntil <= world.now && isFree(world, session, 'leases', worker))
}

function bringBack(world: World, session: number, task: TaskRow): World {
  const { now, settings } = world
  const usedUp = task.executionCount > settings.maxRetries
  return withTask(world, session, {
    ...task,
    ...NO_RUN,
    lostCount: task.lostCount + 1,
    plannedTo: task.lostCount >= 1 ? now + backoff(settings, task.lostCount - 1) : task.plannedTo,
    startedAt: usedUp ? task.startedAt : null,
    failedAt: usedUp ? now : null,
    failureReason: usedUp ? 'lost' : null,
  })
}
