import { alterFunctions, chaosType, type Plant } from './plant.js'

/** The fence removed: a run that has lost its task finishes it. */
export const finishIgnoresToken: Plant = {
  name: 'finish ignores the token',
  foundBy: ['effects are exactly once'],
  plant: (client) => alterFunctions(client, '^finish_chaos_', 'and ($4 is null or t.run_token = $4)', ''),
  types: [chaosType({ kinds: { effect: 1 }, longestWorkMs: 5_000 })],
  weights: { freeze_process: 1, block_event_loop: 1 },
}
