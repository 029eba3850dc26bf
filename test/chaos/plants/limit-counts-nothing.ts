import { alterFunctions, chaosType, type Plant } from './plant.js'

/** Every acquire of a limited type finds room. */
export const limitCountsNothing: Plant = {
  name: 'the limit of a type counts nothing',
  foundBy: ['limits hold'],
  plant: (client) => alterFunctions(client, '^count_running$', 'return v_count', 'return 0'),
  types: [chaosType({ table: 'narrow', kinds: { return: 1 }, longestWorkMs: 500, limit: 2 })],
  weights: {},
}
