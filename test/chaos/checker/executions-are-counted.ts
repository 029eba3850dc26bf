import type { Evidence, Transition, Violation } from './evidence.js'

/** Each acquire counts one execution, a release takes it back, and only who has used them up fails. */
export function executionsAreCounted({ byTask, types }: Evidence): Violation[] {
  const mostOf = new Map(
    types.map(({ table, register }) => [table, (register.maxRetries ?? Number.POSITIVE_INFINITY) + 1]),
  )
  const violations: Violation[] = []
  for (const life of byTask.values()) {
    for (const [index, change] of life.entries()) {
      const before = life[index - 1]
      const problem = before === undefined ? undefined : miscounted(before, change, mostOf.get(change.table) ?? 0)
      if (problem === undefined) continue
      const task = { table: change.table, id: change.taskId }
      violations.push({ check: 'executions are counted', message: `${problem} (change ${change.id})`, task })
    }
  }
  return violations
}

function miscounted(before: Transition, { from, to, attempt, lost }: Transition, most: number): string | undefined {
  if (from === 'waiting' && to === 'running') {
    if (attempt !== before.attempt + 1) return `acquired as attempt ${attempt} after attempt ${before.attempt}`
    return attempt > most ? `acquired as attempt ${attempt} of ${most}` : undefined
  }
  if (to === 'failed' && from === 'running' && attempt < most) return `failed after attempt ${attempt} of ${most}`
  // What comes back may be absorbed by its follow-up.
  const back = to === 'waiting' || to === 'canceled'
  const released = from === 'running' && back && !lost && attempt === before.attempt - 1
  // A reset begins anew.
  if (attempt === before.attempt || released || (back && attempt === 0)) return undefined
  return `${from} → ${to} made ${attempt} executions of ${before.attempt}`
}
