import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { ALL_SESSIONS, checkModel } from '../check-model.js'
import { Queue } from '../database/queue.js'
import { PLANTS } from './plants.js'

it('tells of a bug with the calls that show it and no others, and how to see them again', {
  timeout: 300_000,
}, async () => {
  const planted = PLANTS.find(({ name }) => name === 'acquire takes more than it is asked for')
  const database = await createDatabase()
  const queue = await Queue.open(database, ALL_SESSIONS)
  await planted?.plant(await database.client())
  const failure = await checkModel(queue, { seed: 1, runs: 40 })
  // Two tasks, and an acquire of one.
  expect(failure).toMatch(
    /model: .*\n {2}queue: .*\n\n {2}task type: kept\n( {2}.*insert task=.*\n){2}( {2}\d+ ms pass\n)?.*acquire max=1.*\n\nAgain: /,
  )
  const [, seed, path, replayPath] =
    /MODEL_SEED=(\S+) MODEL_PATH=(\S+) MODEL_REPLAY_PATH=(\S+)/.exec(failure ?? '') ?? []
  const again = await checkModel(queue, { seed: Number(seed), runs: 1, path, replayPath, shrink: false })
  expect(again?.split('\nAgain')[0]?.split('\n').slice(1)).toEqual(failure?.split('\nAgain')[0]?.split('\n').slice(1))
})
