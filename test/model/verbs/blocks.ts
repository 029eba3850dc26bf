import { type Attempt, answered } from '../world/answer.js'
import { sessionOf, withSession } from '../world/rows.js'
import { rolledBack } from '../world/transaction.js'
import type { World } from '../world/world.js'

export function begin(world: World, session: number): Attempt {
  return answered(withSession(world, session, { open: true }), 'BEGIN')
}

/** What is written is committed like any statement outside a block. */
export function commit(world: World, session: number): Attempt {
  if (sessionOf(world, session).failed) return rollback(world, session)
  return answered(withSession(world, session, { open: false }), 'COMMIT')
}

export function rollback(world: World, session: number): Attempt {
  return answered(rolledBack(world, session), 'ROLLBACK')
}

export function cut(world: World, session: number): Attempt {
  return answered(withSession(rolledBack(world, session), session, { asleep: false, awake: false }), 'CUT')
}
