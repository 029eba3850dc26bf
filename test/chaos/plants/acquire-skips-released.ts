import { alterFunctions, chaosType, type Plant } from './plant.js'

/** What comes back behind the cursor of a session that has looked already is never seen again: a sweep would. */
export const acquireSkipsReleased: Plant = {
  name: 'acquire skips the ready row after a release',
  foundBy: ['nothing is stuck', 'tasks run on time'],
  plant: (client) =>
    alterFunctions(
      client,
      '^acquire_chaos_',
      /this\.v_began < pg_catalog\.to_timestamp\(this\.v_cursor\[2\]::double precision\)/g,
      'true',
    ),
  types: [chaosType({ kinds: { return: 1, throw: 1 }, longestWorkMs: 4_500 })],
  weights: { stop_worker: 1 },
}
