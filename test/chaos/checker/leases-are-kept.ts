import type { Evidence, Violation } from './evidence.js'

/** A run is brought back when its lease has ended, and never earlier. */
export function leasesAreKept({ transitions }: Evidence): Violation[] {
  return transitions.flatMap(({ id, lost, at, leaseUntil, table, taskId, oldToken }) => {
    if (!lost || (leaseUntil !== null && leaseUntil <= at)) return []
    const lease =
      leaseUntil === null ? 'its worker had no lease' : `its lease went on for ${Math.round(leaseUntil - at)} ms`
    const message = `run ${oldToken} was declared lost although ${lease} (change ${id})`
    return [{ check: 'leases are kept', message, task: { table, id: taskId } }]
  })
}
