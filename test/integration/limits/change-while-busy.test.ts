import { beforeAll, beforeEach, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { waitUntilBlocked } from '../sql/wait-until-blocked.js'

const database = await createDatabase()
const [client, changing, waiting] = [await database.client(), await database.client(), await database.client()]
const acquire = 'select id from tasks.acquire_tasks_call(1)'

beforeAll(() => createTaskType(client, 'call', { columns: 'customer integer' }))

beforeEach(async () => {
  await client.query('truncate tasks.call')
  await client.query('insert into tasks.call (customer) values (1), (2), (3)')
  await client.query("select tasks.limit_rate('tasks', 'call', 1000, '1 s', 100)")
})

/** Waits a second for the table at most, and says so. */
async function change(call: string): Promise<void> {
  for (;;) {
    try {
      await changing.query(`select tasks.${call}`)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'TQ008') throw error
    }
  }
}

it.each([
  ['brings triggers', null, "limit_concurrency('tasks', 'call', 10)"],
  ['takes triggers away', "limit_concurrency('tasks', 'call', 5)", "limit_concurrency('tasks', 'call', null)"],
  ['brings indexes', null, "limit_keys('tasks', 'call', '{customer}')"],
  ['takes indexes away', "limit_keys('tasks', 'call', '{customer}')", "limit_keys('tasks', 'call', null)"],
  ['changes a number', "limit_concurrency('tasks', 'call', 5)", "limit_concurrency('tasks', 'call', 6)"],
])('a change of limits that %s ends no acquire of a busy type', async (_, before, call) => {
  await client.query("select tasks.limit_concurrency('tasks', 'call', null), tasks.limit_keys('tasks', 'call', null)")
  if (before !== null) await client.query(`select tasks.${before}`)
  await client.query('begin')
  expect(await rowsOf(client, acquire)).toHaveLength(1)
  const changed = change(call)
  await waitUntilBlocked(database.pool, changing)
  const acquired = rowsOf(waiting, acquire)
  await waitUntilBlocked(database.pool, waiting)
  await client.query('commit')
  const [, runs] = await Promise.all([changed, acquired])
  expect(runs).toHaveLength(1)
  expect(await scalarOf(client, 'select count(*) from tasks.call where started_at is not null')).toBe('2')
})
