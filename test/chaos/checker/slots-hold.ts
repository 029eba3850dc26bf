import { isEvent } from '../history.js'
import type { Evidence, Violation } from './evidence.js'

/** No process runs more handlers of a type at once than it has slots, whatever has become of their tasks. */
export function slotsHold({ events, types }: Evidence): Violation[] {
  const slots = new Map(types.map(({ table, concurrency }) => [table, concurrency]))
  const running = new Map<string, Set<string>>()
  const violations: Violation[] = []
  for (const event of events) {
    if (!isEvent(event, 'run_started', 'run_ended')) continue
    const { process, table, id, token } = event
    const key = `${process} ${table}`
    const tokens = running.get(key) ?? new Set()
    running.set(key, tokens)
    if (isEvent(event, 'run_ended')) {
      tokens.delete(token)
    } else if (event.workerId !== null) {
      tokens.add(token)
      const most = slots.get(table) ?? 0
      if (tokens.size <= most) continue
      const message = `${process} ran ${tokens.size} handlers of ${table} at once and has ${most} slots`
      violations.push({ check: 'slots hold', message, task: { table, id } })
    }
  }
  return violations
}
