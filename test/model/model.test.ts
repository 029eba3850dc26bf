import { expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { ALL_SESSIONS, checkModel } from './check-model.js'
import { Queue } from './database/queue.js'

const { CI, MODEL_RUNS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY_PATH } = process.env
const runs = Number(MODEL_RUNS ?? 100)
// In CI always the same: a commit is not to blame for what a new seed finds. 4 and 22 have found the model too strict.
const seeds = CI === undefined ? [Math.floor(Math.random() * 2 ** 31)] : [1, 4, 22]

it.each(MODEL_SEED === undefined ? seeds : [Number(MODEL_SEED)])(
  `does what the model does: seed %i, ${runs} runs`,
  { timeout: 120_000 + runs * 1_000 },
  async (seed) => {
    const queue = await Queue.open(await createDatabase(), ALL_SESSIONS)
    const failure = await checkModel(queue, { seed, runs, path: MODEL_PATH, replayPath: MODEL_REPLAY_PATH })
    expect(failure).toBeUndefined()
  },
)
