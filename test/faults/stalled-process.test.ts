import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase } from '../support/test-database.js'

it('a process that stood still for longer than its lease starts no task that it had taken ahead and others have taken since', async () => {
  const database = await createDatabase()
  await createTaskType(database.pool, 'stalls', { timeout: '1 s' })
  let stall = false
  const taken: string[] = []
  const task = taskOf('stalls', () => {
    if (!stall) return
    stall = false
    // Nothing else runs in this process meanwhile, as in a long computation.
    const sql = 'select pg_sleep(1.5); select id from tasks.acquire_tasks_stalls(100)'
    const answer = execFileSync('psql', ['-XAtq', '-c', sql, database.url], { encoding: 'utf8' })
    taken.push(...answer.split('\n').filter((line) => line !== ''))
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 1])
  // Fast ones, after which the worker takes tasks ahead.
  await insertTasks(database.pool, 'stalls', 1_000)
  await recorded.seen('finished', { count: 1_000 })
  stall = true
  const ids = await insertTasks(database.pool, 'stalls', 50)
  await recorded.seen('finished', { count: 1_050 })
  expect(taken.length).toBeGreaterThan(1)
  const first = recorded.of('started').filter(({ id, attempt }) => attempt === 1 && taken.includes(id))
  // The one in which it stood still.
  expect(first.map(({ id }) => id)).toEqual([ids[0]])
})
