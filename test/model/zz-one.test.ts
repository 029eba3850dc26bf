import { it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { ALL_SESSIONS, checkModel } from './check-model.js'
import { Queue } from './database/queue.js'

const database = await createDatabase()
it('one', { timeout: 600000 }, async () => {
  const queue = await Queue.open(database, ALL_SESSIONS)
  for (let i = 0; i < 3; i++) console.log(await checkModel(queue, { seed: 1, runs: 1, path: '20', shrink: false }))
})
