import { type Attempt, answered } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { isFree, tasksOf, withRow } from '../world/rows.js'
import { stateOf, type TaskRow } from '../world/task-row.js'
import type { World } from '../world/world.js'

export function clean(world: World, session: number, { endedBefore, states }: CallOf<'clean'>): Attempt {
  const gone = tasksOf(world, session).filter((task) => {
    const state = states.find((one) => one === stateOf(task, world.now))
    return state !== undefined && endOf(task) < endedBefore && isFree(world, session, 'tasks', task.id)
  })
  return answered(
    gone.reduce((before, { id }) => withRow(before, session, 'tasks', id, null), world),
    gone.length,
  )
}

function endOf({ finishedAt, canceledAt, failedAt }: TaskRow): number {
  return finishedAt ?? canceledAt ?? failedAt ?? Number.POSITIVE_INFINITY
}
