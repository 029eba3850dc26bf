import { expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { startTestServer } from '../../support/test-server.js'
import { PlanWatcher } from '../plans/nested-plans.js'
import { createTaskType } from '../sql/create-task-type.js'
import { scalarOf } from '../sql/rows-of.js'

const WORKER = '00000000-0000-4000-8000-000000000001'
const KEYS = 10_000

it(`${KEYS} blocked keys in front cost an acquire at most half more than none, once they are set aside`, async () => {
  // A server of its own: whether dead index entries are passed by depends on the snapshots of other databases too.
  const server = await startTestServer()
  onTestFinished(() => server.remove())
  const database = await createDatabase({ serverUrl: server.url })
  const watcher = await PlanWatcher.start(await database.client())
  await watcher.client.query('set auto_explain.log_nested_statements = off')
  for (const [table, blocked] of [
    ['free', 0],
    ['behind', KEYS],
  ] as const) {
    await createTaskType(database.pool, table, { columns: 'key integer' })
    await database.pool.query(`select tasks.limit_keys('tasks', '${table}', '{key}')`)
    // One of each key runs, one waits; behind them those of other keys.
    await database.pool.query(
      `insert into tasks.${table} (planned_to, key, started_at, execution_count, run_token)
       select now() - interval '2 hours' + g * interval '1 ms', g % ${KEYS}, case when g <= ${KEYS} then now() end,
         case when g <= ${KEYS} then 1 else 0 end, case when g <= ${KEYS} then gen_random_uuid() end
       from generate_series(1, 2 * ${blocked}) g`,
    )
    await database.pool.query(
      `insert into tasks.${table} (planned_to, key) select now() - interval '1 hour', -g from generate_series(1, 2000) g`,
    )
    await database.pool.query(`vacuum analyze tasks.${table}`)
  }
  const cheapest = async (table: string) => {
    const costs: number[] = []
    for (let round = 0; round < 6; round += 1) {
      costs.push(await watcher.buffersOf(`select id from tasks.acquire_tasks_${table}(10, '${WORKER}')`))
    }
    return Math.min(...costs)
  }
  const free = await cheapest('free')
  const behind = await cheapest('behind')
  expect(await scalarOf(database.pool, 'select count(*)::int from tasks.behind where held')).toBe(KEYS)
  expect(
    await scalarOf(database.pool, 'select count(*)::int from tasks.behind where key < 0 and started_at is not null'),
  ).toBe(60)
  expect(behind).toBeLessThanOrEqual(1.5 * free)
  await database.drop()
}, 60_000)
