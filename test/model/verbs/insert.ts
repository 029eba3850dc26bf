import { type Attempt, answered } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { announced, withTask } from '../world/rows.js'
import { newTask } from '../world/task-row.js'
import type { World } from '../world/world.js'

export function insert(world: World, session: number, { task, priority, plannedTo }: CallOf<'insert'>): Attempt {
  const enqueued = withTask({ ...world, lastId: task }, session, newTask(task, priority, plannedTo))
  return answered(announced(enqueued, session), 'INSERT')
}
