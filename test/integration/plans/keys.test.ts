import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { PlanWatcher } from './nested-plans.js'

const WORKER = '00000000-0000-4000-8000-000000000001'

describe('20,000 tasks that wait for one key', () => {
  it('cost neither the acquire that takes the next one nor its end', async () => {
    const database = await createDatabase()
    const watcher = await PlanWatcher.start(await database.client())
    await watcher.client.query('set auto_explain.log_nested_statements = off')
    await createTaskType(database.pool, 'keyed', { columns: 'customer integer' })
    await database.pool.query(`select tasks.limit_keys('tasks', 'keyed', '{customer}')`)
    await database.pool.query(
      `insert into tasks.keyed (planned_to, customer, held)
       select now() - interval '1 hour' + g * interval '1 ms', 7, g > 1 from generate_series(1, 20000) g`,
    )
    await database.pool.query('vacuum analyze tasks.keyed')
    const costs: Array<{ acquire: number; finish: number }> = []
    for (let round = 0; round < 5; round += 1) {
      const acquire = await watcher.buffersOf(`select id from tasks.acquire_tasks_keyed(100, '${WORKER}')`)
      const { rows } = await database.pool.query(
        'select id, run_token as token from tasks.keyed where run_worker = $1 and finished_at is null',
        [WORKER],
      )
      expect(rows).toHaveLength(1)
      const finish = await watcher.buffersOf('select tasks.finish_tasks_keyed($1, run_token => $2)', [
        rows[0].id,
        rows[0].token,
      ])
      costs.push({ acquire, finish })
    }
    // The first ones read the catalogue; the statements about keys are planned each time.
    expect(Math.min(...costs.map(({ acquire }) => acquire))).toBeLessThan(600)
    expect(Math.min(...costs.map(({ finish }) => finish))).toBeLessThan(100)
  })
})
