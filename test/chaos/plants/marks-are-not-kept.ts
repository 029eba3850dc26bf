import { alterFunctions, chaosType, type Plant } from './plant.js'

/** A step is acknowledged and its mark is not there. */
export const marksAreNotKept: Plant = {
  name: 'marks are not kept',
  foundBy: ['steps are done once'],
  plant: (client) =>
    alterFunctions(client, '^mark_step$', 'begin\n  if not p_wait', 'begin\n  return;\n  if not p_wait'),
  types: [chaosType({ kinds: { steps: 1 }, longestWorkMs: 2_500 })],
  weights: { kill_worker: 1, freeze_process: 1 },
}
