import { type Attempt, answered, refused } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { announced, withTask } from '../world/rows.js'
import { NO_RUN, stateOf, type TaskRow } from '../world/task-row.js'
import type { Seen, World } from '../world/world.js'
import { backoff } from './backoff.js'
import { settle } from './settle.js'

export function retry(world: World, session: number, call: CallOf<'retry'>, seen?: Seen): Attempt {
  // Its clock is read before it looks at the row.
  const now = seen?.now ?? world.now
  return settle(
    world,
    session,
    call,
    seen,
    (task) => {
      const after = retried(world, task, call, now)
      return answered(announced(withTask(world, session, after), session), stateOf(after, now))
    },
    (task) => refused(world, task === undefined ? 'TQ002' : 'TQ001'),
  )
}

function retried({ settings }: World, task: TaskRow, call: CallOf<'retry'>, now: number): TaskRow {
  const rest = { ...NO_RUN, lostCount: 0 }
  if (task.executionCount > settings.maxRetries) return { ...task, ...rest, failedAt: now, failureReason: 'error' }
  const wait = call.delayMs ?? backoff(settings, task.executionCount - 1)
  return { ...task, ...rest, startedAt: null, plannedTo: call.plannedTo ?? now + wait }
}
