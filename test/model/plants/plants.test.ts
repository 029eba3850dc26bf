import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { ALL_SESSIONS, checkModel } from '../check-model.js'
import { Queue } from '../database/queue.js'
import { PLANTS } from './plants.js'

const MOST_RUNS = 80

describe('The model', () => {
  it.each(PLANTS)('finds that $name', { timeout: 300_000 }, async ({ plant, seed, shows }) => {
    const database = await createDatabase()
    const queue = await Queue.open(database, ALL_SESSIONS)
    await plant(await database.client())
    const failure = await checkModel(queue, { seed, runs: MOST_RUNS, shrink: false })
    await database.drop()
    expect(failure?.split('\n')[1]).toMatch(shows)
  })
})
