import { expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { ALL_SESSIONS, checkModel } from './check-model.js'
import { Queue } from './database/queue.js'

const database = await createDatabase()

const { CI, MODEL_RUNS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY_PATH } = process.env
const runs = Number(MODEL_RUNS ?? 100)
// In CI always the same: a commit is not to blame for what a new seed finds.
const chosen = CI === undefined ? Math.floor(Math.random() * 2 ** 31) : 1
const seed = MODEL_SEED === undefined ? chosen : Number(MODEL_SEED)

it(`does what the model does: seed ${seed}, ${runs} runs`, { timeout: 120_000 + runs * 1_000 }, async () => {
  const queue = await Queue.open(database, ALL_SESSIONS)
  const failure = await checkModel(queue, { seed, runs, path: MODEL_PATH, replayPath: MODEL_REPLAY_PATH })
  expect(failure).toBeUndefined()
})
