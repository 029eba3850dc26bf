import { beforeAll, expect, it } from 'vitest'
import { Latch, startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

// What comes between the last look at a queue and the end of the turn must not wait for whoever comes next: nobody may.
it.each([0, 1, 2, 3])(
  'looks after a run whose handler ends %i steps after it has heard of the one before',
  async (steps) => {
    const table = `ends_after_${steps}`
    await createTaskType(database.pool, table)
    const ids = await insertTasks(database.pool, table, 2)
    const told = new Latch()
    const task = taskOf(table, async (claimed, _, self) => {
      await self.finish(database.pool, claimed)
      if (claimed.id === ids[0]) return
      await told.opened
      for (let step = 0; step < steps; step += 1) await Promise.resolve()
    })
    const recorded = await startWorker({ connectionString: database.url, heartbeatIntervalMs: 15_000 }, [task, 2])
    recorded.worker.once('finished', () => told.open())
    const finished = await recorded.seen('finished', { count: 2, timeoutMs: 5_000 })
    expect(finished.map(({ id }) => id)).toEqual(ids)
  },
)
