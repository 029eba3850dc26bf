import { alterFunctions, chaosType, type Plant } from './plant.js'

/** Acquire skips the ready row after a release. */
export const releaseStrands: Plant = {
  name: 'acquire skips the ready row after a release',
  foundBy: ['nothing is stuck'],
  plant: (client) =>
    alterFunctions(client, '^release_chaos_', 'planned_to = t.planned_to', 'planned_to = t.planned_to, held = true'),
  types: [chaosType({ kinds: { return: 1 }, longestWorkMs: 12_000 })],
  weights: { stop_worker: 1 },
  // A second SIGTERM ends the process, and nothing is released.
  meanGapMs: 5_000,
}
