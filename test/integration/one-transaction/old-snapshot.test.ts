import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { PlanWatcher } from '../plans/nested-plans.js'
import { createTaskType } from '../sql/create-task-type.js'

const WORKER = '00000000-0000-4000-8000-000000000001'
const BATCHES = 3_000

it('while an old snapshot keeps the records of batches that are gone, a look steps over them', async () => {
  const database = await createDatabase()
  await createTaskType(database.pool, 'pinned')
  const reader = await database.client()
  await reader.query('begin isolation level repeatable read; select from tasks.types')
  const watcher = await PlanWatcher.start(await database.client())
  await watcher.client.query('set auto_explain.log_nested_statements = off')
  const open = (id: number) =>
    watcher.buffersOf(`select tasks.open_batch('tasks.pinned'::regclass::oid, $1, array[$2::bigint])`, [WORKER, id])
  const close = () => watcher.client.query('delete from tasks.batches')
  const costs: number[] = []
  for (let batch = 0; batch < BATCHES; batch += 1) {
    costs.push(await open(batch))
    await close()
  }
  const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
  const [first, last] = [median(costs.slice(10, 60)), median(costs.slice(-50))]
  expect(last).toBeLessThanOrEqual(first * 2)
  // Without what the session remembers the same look meets all of them: this shows that they are there.
  await watcher.client.query(`select set_config('pg_tasks.batches_' || 'tasks.pinned'::regclass::oid, '', false)`)
  expect(await open(BATCHES)).toBeGreaterThan(last * 2)
  await reader.query('rollback')
}, 120_000)
