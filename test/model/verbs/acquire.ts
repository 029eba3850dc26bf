import { type Attempt, answered } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { isFree, rowOf, tasksOf, withRow, withTask } from '../world/rows.js'
import { byTurn, isSuspect, isWaiting, type TaskRow } from '../world/task-row.js'
import type { World } from '../world/world.js'
import { rescued } from './rescue.js'

export function acquire(world: World, session: number, call: CallOf<'acquire'>): Attempt {
  const { worker } = call
  const ready = worker === null ? rescued(world, session).world : world
  const picked = pick(ready, session, call)
  const leased = worker === null || picked.length === 0 ? ready : withLease(ready, session, worker)
  const claimed = picked.reduce((before, task) => claim(before, session, task, worker), leased)
  return answered(
    claimed,
    picked.map(({ id }) => id),
    picked.map((_, index) => world.runs.length + index + 1),
  )
}

/** What is due and free, in turn; a suspect alone. */
function pick(world: World, session: number, { max, slotsEmpty }: CallOf<'acquire'>): readonly TaskRow[] {
  const due = tasksOf(world, session)
    .filter((task) => isWaiting(task) && task.plannedTo <= world.now && isFree(world, session, 'tasks', task.id))
    .toSorted(byTurn)
  const suspects = due.filter(isSuspect).toSorted((one, other) => one.plannedTo - other.plannedTo || one.id - other.id)
  if (slotsEmpty && suspects.length > 0) return suspects.slice(0, 1)
  return due.filter((task) => !isSuspect(task)).slice(0, max)
}

function claim(world: World, session: number, task: TaskRow, worker: number | null): World {
  const { now, settings, runs } = world
  return withTask({ ...world, runs: [...runs, { task: task.id, worker }] }, session, {
    ...task,
    startedAt: now,
    executionCount: task.executionCount + 1,
    run: runs.length + 1,
    worker,
    runUntil: worker === null ? now + settings.timeoutMs : null,
  })
}

/** A lease that goes on is not made longer. */
function withLease(world: World, session: number, worker: number): World {
  const lease = rowOf(world, session, 'leases', worker)
  if (lease !== undefined && lease.leasedUntil > world.now) return world
  return withRow(world, session, 'leases', worker, { worker, leasedUntil: world.now + world.settings.timeoutMs })
}
