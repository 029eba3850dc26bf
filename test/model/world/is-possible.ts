import type { Call, Verb } from './call.js'
import { perform } from './perform.js'
import { holderOf, isFree, sessionOf } from './rows.js'
import type { World } from './world.js'

/** Calls that, having waited, look at the tasks of a worker. */
const READERS: readonly Verb[] = ['heartbeat', 'closeLease']

/**
 * Whether the model says what follows from a call. Left out: what ends in a deadlock, whose loser the server chooses; a second
 * session that waits for the same row, of which the server wakes either first; a heartbeat, or the end of a lease, that waits for
 * the same session as somebody else, for both go on at once and it reads what the other writes; and leases locked in several
 * modes, which take transactions that no worker makes.
 */
export function isPossible(world: World, session: number, call: Call): boolean {
  const { open, failed, waiting } = sessionOf(world, session)
  if (waiting !== null) return false
  if (failed && call.verb !== 'commit' && call.verb !== 'rollback' && call.verb !== 'cut') return false
  switch (call.verb) {
    case 'begin':
      return !open
    case 'commit':
    case 'rollback':
      return open
    case 'heartbeat':
    case 'closeLease':
      if (open) return false
      break
    case 'acquire':
      if (call.worker !== null && (open || !isFree(world, session, 'leases', call.worker))) return false
      break
    case 'fallAsleep':
      return !sessionOf(world, session).asleep
    case 'wakeUp':
      return sessionOf(world, session).asleep
    case 'stayAwake':
      return !sessionOf(world, session).awake
    case 'stopAwake':
      return sessionOf(world, session).awake
    default:
  }
  const after = perform(world, session, call).world
  const lock = sessionOf(after, session).waiting?.lock
  if (lock === undefined) return true
  const others = world.sessions.map((other) => other.waiting?.lock)
  if (others.some((other) => other?.table === lock.table && other.key === lock.key)) return false
  return !waitsOn(after, session, session) && !meetsReader(after, session)
}

/** Whether a session waits for another for which a third one waits too, and one of the two calls reads what the other writes. */
function meetsReader(world: World, session: number): boolean {
  const own = sessionOf(world, session).waiting
  const holder = own && holderOf(world, session, own.lock)
  return world.sessions.some((other, index) => {
    if (index === session || !other.waiting || holderOf(world, index, other.waiting.lock) !== holder) return false
    return [own, other.waiting].some((waiting) => waiting && READERS.includes(waiting.call.verb))
  })
}

/** Whether a session waits, by way of others, for a session. */
function waitsOn(world: World, session: number, whom: number): boolean {
  const lock = sessionOf(world, session).waiting?.lock
  const holder = lock && holderOf(world, session, lock)
  if (holder === undefined) return false
  return holder === whom || waitsOn(world, holder, whom)
}
