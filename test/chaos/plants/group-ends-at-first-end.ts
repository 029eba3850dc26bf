import { alterFunctions, chaosType, type Plant } from './plant.js'

/** A group ends with the first member that ends. */
export const groupEndsAtFirstEnd: Plant = {
  name: 'a group ends at the first end',
  foundBy: ['groups end once'],
  plant: (client) => alterFunctions(client, '^group_is_unfinished$', 'return true', 'return false'),
  types: [
    chaosType({ table: 'member', kinds: { return: 1 }, longestWorkMs: 500, callback: 'album' }),
    chaosType({ table: 'album', kinds: { return: 1 }, longestWorkMs: 50, weight: 0 }),
  ],
  weights: {},
}
