import type { Attempt } from '../world/answer.js'
import type { Call } from '../world/call.js'
import type { Seen, World } from '../world/world.js'
import { acquire } from './acquire.js'
import { begin, commit, cut, rollback } from './blocks.js'
import { cancel } from './cancel.js'
import { clean } from './clean.js'
import { finish } from './finish.js'
import { finishMany } from './finish-many.js'
import { closeLease, heartbeat } from './heartbeat.js'
import { insert } from './insert.js'
import { nextDue } from './next-due.js'
import { release } from './release.js'
import { rescue } from './rescue.js'
import { reset } from './reset.js'
import { retry } from './retry.js'
import { fallAsleep, nothingInFlight, stayAwake, stopAwake, wakeUp } from './sleep.js'

/** Tries a call; `seen` is what it had seen before it waited, when it is tried again after that. */
export function attempt(world: World, session: number, call: Call, seen?: Seen): Attempt {
  switch (call.verb) {
    case 'begin':
      return begin(world, session)
    case 'commit':
      return commit(world, session)
    case 'rollback':
      return rollback(world, session)
    case 'cut':
      return cut(world, session)
    case 'insert':
      return insert(world, session, call)
    case 'acquire':
      return acquire(world, session, call)
    case 'rescue':
      return rescue(world, session)
    case 'heartbeat':
      return heartbeat(world, session, call, seen)
    case 'closeLease':
      return closeLease(world, session, call)
    case 'finish':
      return finish(world, session, call, seen)
    case 'finishMany':
      return finishMany(world, session, call)
    case 'retry':
      return retry(world, session, call, seen)
    case 'release':
      return release(world, session, call, seen)
    case 'cancel':
      return cancel(world, session, call, seen)
    case 'reset':
      return reset(world, session, call, seen)
    case 'clean':
      return clean(world, session, call)
    case 'nextDue':
      return nextDue(world, session, call)
    case 'fallAsleep':
      return fallAsleep(world, session)
    case 'wakeUp':
      return wakeUp(world, session)
    case 'stayAwake':
      return stayAwake(world, session)
    case 'stopAwake':
      return stopAwake(world, session)
    case 'nothingInFlight':
      return nothingInFlight(world, session)
  }
}
