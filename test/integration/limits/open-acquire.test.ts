import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const client = await database.client()
const cut = await database.client()
const limit = () => scalarOf(client, "select current_setting('idle_in_transaction_session_timeout')")

beforeAll(async () => {
  await createTaskType(client, 'call', { settings: "timeout => '300 ms'" })
  await client.query("select tasks.limit_concurrency('tasks', 'call', 5)")
  await client.query('insert into tasks.call default values')
})

// A connection that is cut without a word stays open at the server for hours.
it('a transaction that acquired from a limited type and is idle for a lease ends, and lets the others acquire', async () => {
  await cut.query('begin')
  expect(await rowsOf(cut, 'select id from tasks.acquire_tasks_call(1)')).toHaveLength(1)
  expect(await rowsOf(client, 'select id, execution_count from tasks.acquire_tasks_call(1)')).toEqual([
    { id: '1', execution_count: 1 },
  ])
  await expect(cut.query('commit')).rejects.toThrow()
})

it('an acquire from a limited type never makes the idle limit longer, and leaves it at the end of the transaction', async () => {
  await client.query("select tasks.configure('tasks', 'call', 'timeout', '10 s')")
  for (const [before, during] of [
    ['0', '10s'],
    ['1min', '10s'],
    ['1500ms', '1500ms'],
  ]) {
    await client.query(`set idle_in_transaction_session_timeout = '${before}'`)
    await client.query('begin')
    await client.query('select tasks.acquire_tasks_call(1)')
    expect(await limit()).toBe(during)
    await client.query('commit')
    expect(await limit()).toBe(before)
  }
  await client.query(
    "set idle_in_transaction_session_timeout = 0; select tasks.configure('tasks', 'call', 'timeout', null)",
  )
  await client.query('begin')
  await client.query('select tasks.acquire_tasks_call(1)')
  expect(await limit()).toBe('0')
  await client.query('commit')
})
