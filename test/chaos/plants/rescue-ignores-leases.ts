import { alterFunctions, chaosType, type Plant } from './plant.js'

/** Rescue without its guard: the tasks of living workers are taken from them. */
export const rescueIgnoresLeases: Plant = {
  name: 'rescue ignores living leases',
  foundBy: ['leases are kept'],
  plant: (client) => alterFunctions(client, '^rescue_chaos_', 'and l.leased_until > this.v_now', 'and false'),
  types: [chaosType({ kinds: { effect: 1, return: 1 }, longestWorkMs: 2_000 })],
  load: { borrower: true },
  weights: {},
}
