import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { type State, stateOf, taskInState } from '../sql/task-in-state.js'
import { startWorker, taskOf } from '../worker/start-worker.js'

const database = await createDatabase()
const { pool } = database

let types = 0

/** A new type with so many failed tasks, with the payloads a, b, a, b … */
async function failedTasks(count: number): Promise<{ readonly table: string; readonly ids: readonly string[] }> {
  types += 1
  const table = `failed_${types}`
  await createTaskType(pool, table)
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) {
    const { id } = await taskInState(pool, table, 'failed')
    await pool.query(`update tasks.${table} set payload = $2 where id = $1`, [id, number % 2 === 0 ? 'a' : 'b'])
    ids.push(id)
  }
  return { table, ids }
}

async function states(table: string, ids: readonly string[]): Promise<Array<State | undefined>> {
  return Promise.all(ids.map((id) => stateOf(pool, table, id)))
}

async function resetFailed(table: string, rest = ''): Promise<number> {
  return Number(await scalarOf(pool, `select tasks.reset_failed('tasks.${table}'${rest})`))
}

it('resets one task by its id, as a task in any state', async () => {
  const { table, ids } = await failedTasks(2)
  expect(await scalarOf(pool, `select tasks.reset_tasks_${table}($1)`, [ids[0]])).toBe('failed')
  expect(await states(table, ids)).toEqual(['ready', 'failed'])
  const [row] = await rowsOf(
    pool,
    `select execution_count, failed_at, failure_reason, last_error from tasks.${table} where id = $1`,
    [ids[0]],
  )
  expect(row).toEqual({ execution_count: 0, failed_at: null, failure_reason: null, last_error: null })
})

it('resets all', async () => {
  const { table, ids } = await failedTasks(3)
  const others = await Promise.all([taskInState(pool, table, 'finished')])
  expect(await resetFailed(table)).toBe(3)
  expect(await states(table, ids)).toEqual(['ready', 'ready', 'ready'])
  expect(await stateOf(pool, table, others[0].id)).toBe('finished')
})

it.each([
  ['a column of the user', `payload = 'b'`],
  ['the alias and a comment', `t.payload = 'b' -- those`],
  ['an or', `payload = 'b' or false`],
  ['a subquery', `t.id in (select max(id) from tasks.TABLE)`],
])('resets those that meet a condition: %s', async (_, condition) => {
  const { table, ids } = await failedTasks(2)
  const running = await taskInState(pool, table, 'running')
  await pool.query(`update tasks.${table} set payload = 'b' where id = $1`, [running.id])
  const quoted = `'${condition.replace('TABLE', table).replaceAll("'", "''").replace('max(id)', 'max(id) - 1')}'`
  expect(await resetFailed(table, `, ${quoted}, p_preview => true`)).toBe(1)
  expect(await states(table, ids)).toEqual(['failed', 'failed'])
  expect(await resetFailed(table, `, ${quoted}`)).toBe(1)
  expect(await states(table, ids)).toEqual(['failed', 'ready'])
  expect(await stateOf(pool, table, running.id)).toBe('running')
})

it('resets at most so many, the oldest first, and counts at most so many', async () => {
  const { table, ids } = await failedTasks(3)
  expect(await resetFailed(table, `, p_max_num => 2, p_preview => true`)).toBe(2)
  expect(await resetFailed(table, `, p_max_num => 2`)).toBe(2)
  expect(await states(table, ids)).toEqual(['ready', 'ready', 'failed'])
})

it('passes a row by that somebody holds, without waiting', async () => {
  const { table, ids } = await failedTasks(2)
  const session = await database.client()
  await session.query('begin')
  await session.query(`select from tasks.${table} where id = $1 for update`, [ids[0]])
  expect(await resetFailed(table)).toBe(1)
  expect(await states(table, ids)).toEqual(['failed', 'ready'])
  await session.query('rollback')
})

it('is undone with its transaction', async () => {
  const { table, ids } = await failedTasks(1)
  const session = await database.client()
  await session.query('begin')
  await session.query(`select tasks.reset_failed('tasks.${table}')`)
  await session.query('rollback')
  expect(await states(table, ids)).toEqual(['failed'])
})

it('keeps the marks of what it resets', async () => {
  const { table, ids } = await failedTasks(1)
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt)
     select 'tasks.${table}'::regclass, id, 'send', created_at, 1 from tasks.${table}`,
  )
  await resetFailed(table)
  expect(
    await scalarOf(pool, 'select count(*)::int from tasks.marks where task_id = $1 and table_id = $2::regclass', [
      ids[0],
      `tasks.${table}`,
    ]),
  ).toBe(1)
})

it('is there in TypeScript, and wakes the workers', async () => {
  const { table } = await failedTasks(3)
  const task = taskOf<object>(table)
  const worker = await startWorker({ connectionString: database.url }, [task, 1])
  expect(await task.resetFailed(pool, { where: `payload = 'a'`, preview: true })).toBe(2)
  expect(await task.resetFailed(pool, { where: `payload = 'a'`, maxNum: 1 })).toBe(1)
  await worker.seen('finished')
  expect(await task.resetFailed(pool)).toBe(2)
  await worker.seen('finished', { count: 3 })
})

it.each([
  ['TQ004', `reset_failed: NULL is not registered`, 'null'],
  ['TQ004', `reset_failed: tasks.types is not registered`, `'tasks.types'`],
  ['TQ003', 'reset_failed: p_condition must not be NULL and p_max_num at least 1', `'tasks.TABLE', null`],
  ['TQ003', 'reset_failed: p_condition must not be NULL and p_max_num at least 1', `'tasks.TABLE', p_max_num => 0`],
  ['42703', 'column "nothing" does not exist', `'tasks.TABLE', 'nothing = 1'`],
])('is refused: %s %s', async (code, message, args) => {
  const { table, ids } = await failedTasks(1)
  const refusal = await refusalOf(pool.query(`select tasks.reset_failed(${args.replace('TABLE', table)})`))
  expect(refusal).toMatchObject({ code, message })
  expect(await states(table, ids)).toEqual(['failed'])
})
