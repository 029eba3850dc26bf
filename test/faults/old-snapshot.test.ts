import { beforeAll, describe, expect, it } from 'vitest'
import { PlanWatcher } from '../integration/plans/nested-plans.js'
import { createTaskType } from '../integration/sql/create-task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

const WORKER = '00000000-0000-4000-8000-000000000001'
const DEAD = 20_000
const BATCH = 100

let database: TestDatabase
let watcher: PlanWatcher
beforeAll(async () => {
  database = await createDatabase()
  watcher = await PlanWatcher.start(await database.client())
  await watcher.client.query('set auto_explain.log_nested_statements = off')
})

async function acquire(): Promise<number> {
  return watcher.buffersOf(`select id from tasks.acquire_tasks_pinned(${BATCH}, '${WORKER}')`)
}

/** Finishes what the worker runs, in one go: the buffers of this aren't of interest. */
async function finishAll(): Promise<void> {
  await database.pool.query(
    `select f.* from (
       select array_agg(id) as ids, array_agg(run_token) as tokens from tasks.pinned where run_worker = $1 and finished_at is null
     ) r cross join lateral tasks.finish_many_tasks_pinned(r.ids, r.tokens) f`,
    [WORKER],
  )
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

describe('While an old snapshot keeps dead entries in the indexes', () => {
  it('a busy worker steps over them', { timeout: 60_000 }, async () => {
    await createTaskType(database.pool, 'pinned', { settings: `timeout => '1 hour'` })
    // In any order of due times, so that neighbours in the index don't share a page of the table.
    await database.pool.query(
      `insert into tasks.pinned (planned_to) select now() - interval '1 hour' * random() from generate_series(1, $1::integer)`,
      [DEAD + 5_000],
    )
    await database.pool.query('vacuum analyze tasks.pinned')
    const reader = await database.client()
    await reader.query('begin isolation level repeatable read')
    await reader.query('select from tasks.pinned')

    const costs: number[] = []
    for (let taken = 0; taken < DEAD; taken += BATCH) {
      costs.push(await acquire())
      await finishAll()
    }
    const [first, last] = [median(costs.slice(0, 20)), median(costs.slice(-20))]
    expect(last).toBeLessThan(first * 1.5)
    // Without the cursor the same call meets all of them: this shows that they are there.
    await watcher.client.query(`select set_config('pg_tasks.cursor_' || 'tasks.pinned'::regclass::oid, '', false)`)
    const sweep = await acquire()
    expect(sweep).toBeGreaterThan(last * 3)
    // Right after a sweep, next_due looks at all too, for rows that are due and couldn't be taken; else it steps over them.
    const nextDue: number[] = []
    for (let round = 0; round < 5; round += 1) {
      await acquire()
      nextDue.push(await watcher.buffersOf(`select * from tasks.next_due_tasks_pinned('${WORKER}')`))
    }
    expect(Math.min(...nextDue)).toBeLessThan(50)
    await reader.query('commit')
  })
})
