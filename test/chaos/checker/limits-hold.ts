import type { Evidence, Transition, Violation } from './evidence.js'

const check = 'limits hold'

/**
 * No type runs more tasks at once than its limit, no account two. Counted in the order of the ledger's numbers: who acquires
 * has seen the end of those before, so an end that made room has the smaller number.
 */
export function limitsHold({ types, transitions }: Evidence): Violation[] {
  return types.flatMap(({ table, limit, serial }) => {
    const own = transitions.filter((change) => change.table === table)
    return [
      ...(limit === undefined ? [] : exceeded(own, limit, () => 'the type')),
      ...(serial ? exceeded(own, 1, ({ account }) => `"${account}"`) : []),
    ]
  })
}

function exceeded(changes: readonly Transition[], limit: number, keyOf: (change: Transition) => string): Violation[] {
  const running = new Map<string, Set<string>>()
  const violations: Violation[] = []
  for (const change of changes) {
    const key = keyOf(change)
    const ids = running.get(key) ?? new Set()
    running.set(key, ids)
    if (change.to === 'running') ids.add(change.taskId)
    else ids.delete(change.taskId)
    if (change.from === 'waiting' && change.to === 'running' && ids.size > limit) {
      const others = [...ids].filter((id) => id !== change.taskId)
      const message = `acquired while ${others.join(', ')} ran and ${key} allows ${limit} (change ${change.id})`
      violations.push({ check, message, task: { table: change.table, id: change.taskId } })
    }
  }
  return violations
}
