import type { NewTask } from '@pg-tasks/client'
import type { Random } from '../random.js'
import type { ChaosType, Own } from './task-types.js'

const ACCOUNTS = 6

/** A task of one of the types, as it is drawn. */
export function drawTask(random: Random, type: ChaosType, ref: string): NewTask<Own> {
  const late = random.chance(0.15)
  return {
    ref,
    kind: random.weighted(type.kinds),
    generation: 0,
    work_ms: random.chance(0.3) ? random.integer(0, type.longestWorkMs) : random.integer(0, type.longestWorkMs / 5),
    fails: random.integer(0, 3),
    account: `account ${random.integer(1, ACCOUNTS)}`,
    priority: random.pick([1, 1, 1, 0, 2, 3]),
    ...(late ? { planned_to: new Date(Date.now() + random.integer(100, 3_000)) } : {}),
  }
}

export function drawType(random: Random, types: readonly ChaosType[]): ChaosType {
  const table = random.weighted(Object.fromEntries(types.map(({ table, weight }) => [table, weight])))
  return types.find((type) => type.table === table) as ChaosType
}
