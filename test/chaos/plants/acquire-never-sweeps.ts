import { alterFunctions, chaosType, type Plant } from './plant.js'

/** What becomes ready behind the cursor of a session that has looked already is never seen by it: a sweep would. */
export const acquireNeverSweeps: Plant = {
  name: 'acquire never looks behind its cursor',
  foundBy: ['nothing is stuck', 'tasks run on time'],
  plant: (client) =>
    alterFunctions(
      client,
      '^acquire_chaos_',
      'this.v_began < pg_catalog.to_timestamp(this.v_cursor[2]::double precision)',
      'true',
    ),
  types: [chaosType({ kinds: { return: 1, throw: 1 }, longestWorkMs: 500 })],
  load: { longTransactions: 3 },
  weights: {},
}
