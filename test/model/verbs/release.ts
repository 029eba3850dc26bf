import { type Attempt, answered } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { announced, sessionOf, withLock, withTask } from '../world/rows.js'
import { NO_RUN } from '../world/task-row.js'
import type { Seen, World } from '../world/world.js'
import { settle } from './settle.js'

export function release(world: World, session: number, call: CallOf<'release'>, seen?: Seen): Attempt {
  return settle(
    world,
    session,
    call,
    seen,
    (task) => {
      const released = { ...task, ...NO_RUN, startedAt: null, executionCount: Math.max(0, task.executionCount - 1) }
      return answered(announced(withTask(world, session, released), session), true)
    },
    (task, changedMeanwhile) => {
      // What it has waited for it has locked, if it is still there, and doesn't want any more.
      const locked = changedMeanwhile && task !== undefined ? withLock(world, session, 'tasks', task.id) : world
      // The statement's trigger fires all the same. An update takes a transaction number before it waits, row or none.
      const numbered = sessionOf(world, session).open || seen !== undefined
      return answered(announced(locked, session, numbered ? 'maybe' : 'no'), false)
    },
  )
}
