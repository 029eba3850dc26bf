import type { Evidence, Violation } from './evidence.js'

/**
 * Of the unique tasks of one account at most one waits. Counted in the order of the ledger's numbers: who meets the other in the
 * index waits for its transaction, and is written down after it.
 */
export function uniqueHolds({ types, transitions }: Evidence): Violation[] {
  const unique = new Set(types.filter((type) => type.unique).map(({ table }) => table))
  const waiting = new Map<string, Set<string>>()
  return transitions
    .filter(({ table }) => unique.has(table))
    .flatMap(({ id, table, taskId, account, to }) => {
      const key = `${table} ${account}`
      const ids = waiting.get(key) ?? new Set()
      waiting.set(key, ids)
      if (to !== 'waiting') {
        ids.delete(taskId)
        return []
      }
      ids.add(taskId)
      if (ids.size === 1) return []
      const others = [...ids].filter((one) => one !== taskId).join(', ')
      const message = `it waits beside ${others} of "${account}" (change ${id})`
      return [{ check: 'unique holds', message, task: { table, id: taskId } }]
    })
}
