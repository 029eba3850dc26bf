import { type Attempt, answered } from '../world/answer.js'
import { withSession } from '../world/rows.js'
import type { World } from '../world/world.js'

export function fallAsleep(world: World, session: number): Attempt {
  return answered(withSession(world, session, { asleep: true }), null)
}

export function wakeUp(world: World, session: number): Attempt {
  return answered(withSession(world, session, { asleep: false }), true)
}

/** One session at a time. */
export function stayAwake(world: World, session: number): Attempt {
  if (world.sessions.some(({ awake }) => awake)) return answered(world, false)
  return answered(withSession(world, session, { awake: true }), true)
}

export function stopAwake(world: World, session: number): Attempt {
  return answered(withSession(world, session, { awake: false }), true)
}

export function nothingInFlight(world: World, session: number): Attempt {
  return answered(world, !world.sessions.some(({ inFlight }, index) => inFlight && index !== session))
}
