import { type Attempt, answered, refused } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { announced, isFree, rowOf, withTask } from '../world/rows.js'
import { isFinal, newTask, stateOf, type TaskRow } from '../world/task-row.js'
import type { Seen, World } from '../world/world.js'
import { lookedAt } from './settle.js'

export function reset(world: World, session: number, { task: key }: CallOf<'reset'>, seen?: Seen): Attempt {
  const task = rowOf(world, session, 'tasks', key)
  if (task === undefined) return refused(world, 'TQ002')
  if (!isFree(world, session, 'tasks', key))
    return { waitsFor: { table: 'tasks', key }, seen: { now: world.now, row: task } }
  const state = stateOf(task, lookedAt(world, task, seen))
  if (seen !== undefined && isFinal(task) && state !== stateOf(seen.row as TaskRow, seen.now))
    return refused(world, 'TQ006')
  const anew = newTask(key, task.priority, world.now)
  return answered(announced(withTask(world, session, anew), session), state)
}
