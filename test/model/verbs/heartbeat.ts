import { type Attempt, answered } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { isFree, leasesOf, rowOf, tasksOf, withRow } from '../world/rows.js'
import { isRunning, isSuspect, isWaiting, stateOf } from '../world/task-row.js'
import type { Seen, World } from '../world/world.js'
import { taskOfRun } from './finish-many.js'

export function heartbeat(world: World, session: number, call: CallOf<'heartbeat'>, seen?: Seen): Attempt {
  const { worker, runs, findStrays } = call
  const lease = rowOf(world, session, 'leases', worker)
  if (lease !== undefined && !isFree(world, session, 'leases', worker))
    return { waitsFor: { table: 'leases', key: worker }, seen: { now: world.now, row: lease } }
  // Its clock is read before it comes to the lease.
  const now = seen?.now ?? world.now
  const { timeoutMs } = world.settings
  const after = withRow(world, session, 'leases', worker, { worker, leasedUntil: now + timeoutMs })
  const tasks = tasksOf(world, session)
  const known = runs.map((run) => taskOfRun(world, run))
  return answered(after, {
    gone: runs
      .flatMap((run) => {
        const reason = whyGone(world, session, run, now)
        return reason === undefined ? [] : [`${taskOfRun(world, run)} ${reason}`]
      })
      .toSorted(),
    rescueDue:
      leasesOf(after, session).some(({ leasedUntil }) => leasedUntil <= now) ||
      tasks.some((task) => isRunning(task) && task.runUntil !== null && task.runUntil <= now),
    suspectDue: tasks.some((task) => isWaiting(task) && isSuspect(task) && task.plannedTo <= now),
    strays: findStrays
      ? tasks
          .filter((task) => isRunning(task) && task.worker === worker && !known.includes(task.id))
          .filter(({ startedAt }) => startedAt !== null && startedAt < now - timeoutMs / 2)
          .map(({ id }) => id)
          .toSorted((one, other) => one - other)
      : [],
  })
}

function whyGone(world: World, session: number, run: number, now: number): string | undefined {
  const task = rowOf(world, session, 'tasks', taskOfRun(world, run))
  if (task === undefined) return 'missing'
  if (task.run === run) return isRunning(task) ? undefined : stateOf(task, now)
  if (task.canceledAt !== null) return 'canceled'
  return task.executionCount === 0 ? 'reset' : 'lost'
}

export function closeLease(world: World, session: number, { worker }: CallOf<'closeLease'>): Attempt {
  const lease = rowOf(world, session, 'leases', worker)
  if (lease === undefined) return answered(world, true)
  if (!isFree(world, session, 'leases', worker))
    return { waitsFor: { table: 'leases', key: worker }, seen: { now: world.now, row: lease } }
  const covers = tasksOf(world, session).some((task) => isRunning(task) && task.worker === worker)
  return answered(covers ? world : withRow(world, session, 'leases', worker, null), !covers)
}
