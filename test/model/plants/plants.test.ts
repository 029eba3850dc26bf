import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { ALL_SESSIONS, checkModel } from '../check-model.js'
import { Queue } from '../database/queue.js'
import { PLANTS } from './plants.js'

const MOST_RUNS = 60

describe('The model', () => {
  it.each(PLANTS)('finds that $name', { timeout: 120_000 }, async ({ plant, seed }) => {
    const database = await createDatabase()
    const queue = await Queue.open(database, ALL_SESSIONS)
    await plant(await database.client())
    const t = performance.now()
    const failure = await checkModel(queue, { seed, runs: MOST_RUNS, shrink: false })
    console.log(Math.round(performance.now() - t), failure?.slice(0, 300))
    expect(failure).toContain('The queue differs from the model')
  })
})
