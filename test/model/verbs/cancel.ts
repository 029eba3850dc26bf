import { type Attempt, answered, refused } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { isFree, rowOf, withLock, withTask } from '../world/rows.js'
import { isFinal, NO_RUN, stateOf } from '../world/task-row.js'
import type { Seen, World } from '../world/world.js'
import { lookedAt } from './settle.js'

export function cancel(world: World, session: number, call: CallOf<'cancel'>, seen?: Seen): Attempt {
  const { task: key, run } = call
  const task = rowOf(world, session, 'tasks', key)
  if (task === undefined) return refused(world, 'TQ002')
  const state = stateOf(task, lookedAt(world, task, seen))
  // What has ended is reported and not waited for.
  if (isFinal(task) && run === null && seen === undefined) return answered(world, state)
  if (!isFree(world, session, 'tasks', key))
    return { waitsFor: { table: 'tasks', key }, seen: { now: world.now, row: task } }
  if (run !== null && (task.run !== run || state !== 'running')) return refused(world, 'TQ001')
  if (isFinal(task)) return answered(withLock(world, session, 'tasks', key), state)
  return answered(withTask(world, session, { ...task, ...NO_RUN, canceledAt: world.now }), state)
}
