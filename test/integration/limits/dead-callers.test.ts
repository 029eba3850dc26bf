import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

// Callers without a worker, as from psql: nobody but the next acquire brings back what they left running.
const database = await createDatabase()
const client = await database.client()
const acquire = async (most: number) =>
  (await rowsOf<{ id: string }>(client, 'select id from tasks.acquire_tasks_left($1)', [most])).map(({ id }) => id)

beforeAll(() =>
  createTaskType(client, 'left', { columns: 'customer integer', settings: "timeout => '1 minute', max_retries => 0" }),
)

beforeEach(async () => {
  await moveClock(client, '0')
  await client.query('truncate tasks.left restart identity')
  await client.query('insert into tasks.left (customer) select 1 from generate_series(1, 4)')
  return () =>
    client.query("select tasks.limit_concurrency('tasks', 'left', null), tasks.limit_keys('tasks', 'left', null)")
})

describe('places of a limited type whose callers have died', () => {
  it('are free for the acquire that comes after the end of their leases', async () => {
    await client.query("select tasks.limit_concurrency('tasks', 'left', 2)")
    expect(await acquire(10)).toEqual(['1', '2'])
    expect(await acquire(10)).toEqual([])
    await moveClock(client, '2 minutes')
    expect(await acquire(10)).toEqual(['3', '4'])
    expect(await scalarOf(client, 'select array_agg(failure_reason order by id) from tasks.left where id < 3')).toEqual(
      ['lost', 'lost'],
    )
  })

  it('are free where all of them have one key, too', async () => {
    await client.query(
      "select tasks.limit_concurrency('tasks', 'left', 1), tasks.limit_keys('tasks', 'left', '{customer}')",
    )
    expect(await acquire(10)).toEqual(['1'])
    expect(await acquire(10)).toEqual([])
    await moveClock(client, '2 minutes')
    expect(await acquire(10)).toEqual(['2'])
    await moveClock(client, '4 minutes')
    expect(await acquire(10)).toEqual(['3'])
  })

  it('stay taken while the type is paused', async () => {
    await client.query("select tasks.limit_concurrency('tasks', 'left', 2)")
    expect(await acquire(10)).toEqual(['1', '2'])
    await moveClock(client, '2 minutes')
    await client.query("select tasks.pause('tasks', 'left')")
    expect(await acquire(10)).toEqual([])
    await client.query("select tasks.resume('tasks', 'left')")
    expect(await acquire(10)).toEqual(['3', '4'])
  })
})
