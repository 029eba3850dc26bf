import { type Attempt, answered, refused } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { withRow, withTask } from '../world/rows.js'
import type { TaskRow } from '../world/task-row.js'
import type { Seen, World } from '../world/world.js'
import { settle } from './settle.js'

export function finish(world: World, session: number, call: CallOf<'finish'>, seen?: Seen): Attempt {
  return settle(
    world,
    session,
    call,
    seen,
    (task, now) => answered(finished(world, session, task, now), 'finished'),
    (task) => refused(world, task === undefined ? 'TQ002' : 'TQ001'),
  )
}

export function finished(world: World, session: number, task: TaskRow, now: number): World {
  if (world.settings.deletesFinished) return withRow(world, session, 'tasks', task.id, null)
  return withTask(world, session, { ...task, finishedAt: now })
}
