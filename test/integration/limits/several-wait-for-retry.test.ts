import { beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf } from '../sql/rows-of.js'

// With on_retry block, a task that waits for its retry takes a place of its key. Where there are more of them than places,
// because the limit came or shrank later, they are held back like others.
const database = await createDatabase()
const client = await database.client()
const acquire = async (most = 10) =>
  (await rowsOf<{ id: string }>(client, 'select id from tasks.acquire_tasks_call($1)', [most])).map(({ id }) =>
    Number(id),
  )
const finish = (id: number) => client.query('select tasks.finish_tasks_call($1)', [id])
const limitKeys = (concurrency: number, onRetry = 'block') =>
  client.query("select tasks.limit_keys('tasks', 'call', '{customer}', $1, $2)", [concurrency, onRetry])

beforeEach(async () => {
  await client.query('drop table if exists tasks.call cascade')
  await createTaskType(client, 'call', { columns: 'customer integer' })
  await client.query("insert into tasks.call (customer, planned_to) select 1, '2020-01-01' from generate_series(1, 4)")
})

async function drain(most = 10): Promise<number[]> {
  const order: number[] = []
  for (let [id] = await acquire(most); id !== undefined; [id] = await acquire(most)) {
    order.push(id)
    await finish(id)
  }
  return order
}

describe('tasks of one key that wait for their retry, more than the key has places,', () => {
  it.each([1, 10])(
    'run one after the other and before the rest where the limit came later, %d asked for',
    async (most) => {
      await client.query('select tasks.acquire_tasks_call(3)')
      await client.query("select tasks.retry_tasks_call(id, '2020-01-02') from tasks.call where id <= 3")
      await limitKeys(1)
      expect(await drain(most)).toEqual([1, 2, 3, 4])
    },
  )

  it('run, the first that is due, where one of them is due later', async () => {
    await client.query('select tasks.acquire_tasks_call(2)')
    await client.query("select tasks.retry_tasks_call(1, '2100-01-01'), tasks.retry_tasks_call(2, '2020-01-02')")
    await limitKeys(1)
    expect(await drain()).toEqual([2])
    await client.query("update tasks.call set planned_to = '2020-01-02' where id = 1")
    expect(await drain()).toEqual([1, 3, 4])
  })

  it('run where they are suspects', async () => {
    await client.query('update tasks.call set execution_count = 2, lost_count = 2 where id <= 2')
    await limitKeys(1)
    expect(await drain()).toEqual([1, 2, 3, 4])
  })

  it('run where the limit was lowered', async () => {
    await limitKeys(3)
    expect(await acquire()).toEqual([1, 2, 3])
    await client.query("select tasks.retry_tasks_call(id, '2020-01-02') from tasks.call where id <= 3")
    await limitKeys(1)
    expect(await drain()).toEqual([1, 2, 3, 4])
  })

  it('run where they had stepped aside before', async () => {
    await limitKeys(1, 'step_aside')
    for (const id of [1, 2, 3]) {
      expect(await acquire()).toEqual([id])
      await client.query("select tasks.retry_tasks_call($1, '2100-01-01')", [id])
    }
    await limitKeys(1)
    await client.query("update tasks.call set planned_to = '2020-01-02' where id <= 3")
    expect(await drain()).toEqual([1, 2, 3, 4])
  })

  it('are let in by maintenance where no trigger saw the end of the one before', async () => {
    await client.query('select tasks.acquire_tasks_call(2)')
    await client.query("select tasks.retry_tasks_call(id, '2020-01-02') from tasks.call where id <= 2")
    await limitKeys(1)
    expect(await acquire()).toEqual([1])
    await client.query("set session_replication_role = 'replica'")
    await finish(1)
    await client.query('reset session_replication_role')
    expect(await acquire()).toEqual([])
    await client.query('select * from tasks.maintain()')
    expect(await drain()).toEqual([2, 3, 4])
  })
})
