import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const client = await database.client()
const acquire = async () =>
  (await rowsOf<{ id: string }>(client, 'select id from tasks.acquire_tasks_call(10)')).map(({ id }) => id)

// As after a failover to a server whose clock is behind.
it('a rate goes on when the clock was set back, and gives no more than before', async () => {
  await createTaskType(client, 'call')
  await client.query("select tasks.limit_rate('tasks', 'call', 1, '1 minute')")
  await client.query("insert into tasks.call (planned_to) select '2020-01-01' from generate_series(1, 5)")
  await moveClock(client, '1 hour')
  expect(await acquire()).toEqual(['1'])
  await moveClock(client, '0')
  expect(await acquire()).toEqual([])
  expect(await scalarOf(client, 'select ready_in from tasks.next_due_tasks_call()')).toBeCloseTo(60_000, -4)
  await moveClock(client, '30 s')
  expect(await acquire()).toEqual([])
  await moveClock(client, '61 s')
  expect(await acquire()).toEqual(['2'])
})
