import { alterFunctions, chaosType, type Plant } from './plant.js'

/** A run whose COMMIT was not answered does its work again. */
export const finishAcceptsTokenTwice: Plant = {
  name: 'finish accepts its own token twice',
  foundBy: ['effects are exactly once'],
  plant: (client) =>
    alterFunctions(
      client,
      '^finish_chaos_',
      'tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)',
      '(t.finished_at is not null or tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled))',
    ),
  types: [chaosType({ kinds: { repeat: 1 }, longestWorkMs: 500 })],
  weights: { cut_statement: 1 },
  statements: ['commit'],
}
