import type { Evidence, Violation } from './evidence.js'

/** A run is brought back when its lease has ended, and never earlier. */
export function leasesAreKept({ transitions, types }: Evidence): Violation[] {
  // The suspects of a batch that was not committed: for all that is known, they never ran.
  const inOne = new Set(types.filter((type) => type.oneTransaction).map(({ table }) => table))
  return transitions.flatMap(({ id, lost, at, leaseUntil, table, taskId, oldToken, from }) => {
    if (!lost || (leaseUntil !== null && leaseUntil <= at) || (from === 'waiting' && inOne.has(table))) return []
    const lease =
      leaseUntil === null ? 'its worker had no lease' : `its lease went on for ${Math.round(leaseUntil - at)} ms`
    const message = `run ${oldToken} was declared lost although ${lease} (change ${id})`
    return [{ check: 'leases are kept', message, task: { table, id: taskId } }]
  })
}
