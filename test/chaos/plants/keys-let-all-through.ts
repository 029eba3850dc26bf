import { alterFunctions, chaosType, type Plant } from './plant.js'

/** Tasks of one key run beside each other. */
export const keysLetAllThrough: Plant = {
  name: 'keys let all tasks through',
  foundBy: ['limits hold'],
  plant: (client) => alterFunctions(client, '^judge$', 's.keyless or', 'true or'),
  types: [chaosType({ table: 'keyed', kinds: { return: 1 }, longestWorkMs: 500, serial: true })],
  weights: {},
}
