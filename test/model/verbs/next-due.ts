import { type Attempt, answered } from '../world/answer.js'
import type { CallOf } from '../world/call.js'
import { leasesOf, tasksOf } from '../world/rows.js'
import { isRunning, isSuspect, isWaiting } from '../world/task-row.js'
import type { World } from '../world/world.js'

/** Milliseconds from now; null: never. */
export interface NextDue {
  readonly readyIn: number | null
  readonly rescueIn: number | null
  readonly laterIn: number | null
}

export function nextDue(world: World, session: number, { worker, slotsEmpty }: CallOf<'nextDue'>): Attempt {
  const { now } = world
  const waiting = tasksOf(world, session).filter(isWaiting)
  const plans = waiting.filter((task) => !isSuspect(task)).map(({ plannedTo }) => plannedTo)
  const suspects = slotsEmpty ? waiting.filter(isSuspect).map(({ plannedTo }) => plannedTo) : []
  const ends = tasksOf(world, session)
    .filter(isRunning)
    .flatMap(({ runUntil }) => runUntil ?? [])
  const leases = leasesOf(world, session)
    .filter((lease) => lease.worker !== worker)
    .map(({ leasedUntil }) => leasedUntil)
  const readyIn = untilFirst([...plans, ...suspects], now)
  const value: NextDue = {
    readyIn,
    rescueIn: untilFirst([...ends, ...leases], now),
    // Where a task is due already, when another one will be.
    laterIn:
      readyIn === 0
        ? untilFirst(
            plans.filter((at) => at > now),
            now,
          )
        : null,
  }
  return answered(world, value)
}

function untilFirst(instants: readonly number[], now: number): number | null {
  return instants.length === 0 ? null : Math.max(0, Math.min(...instants) - now)
}
