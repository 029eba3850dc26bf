import { Pool } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { startRun, taskInState } from '../sql/task-in-state.js'

const database = await createDatabase()
const { pool } = database

await pool.query('revoke execute on all functions in schema tasks from public')
await pool.query('create schema office')

async function pair(table: string): Promise<void> {
  await createTaskType(pool, table, { settings: 'max_retries => 0' })
  await pool.query(
    `create table office.${table}_letter (like tasks.template including defaults including identity including indexes, failed_id bigint)`,
  )
  await pool.query(`select tasks.register('office', '${table}_letter')`)
}

async function poolOf(kind: string, table: string): Promise<Pool> {
  const role = await database.createRole(kind)
  await pool.query('select tasks.grant_to($1, $2, $3, $4)', [role.name, kind, 'tasks', table])
  const own = new Pool({ connectionString: role.url, max: 2 })
  onTestFinished(() => own.end())
  return own
}

it.each([
  ['worker', 'before'],
  ['worker', 'after'],
  ['operator', 'before'],
  ['operator', 'after'],
])('a %s passes failures on to a table of another schema; the target was set %s the grant', async (kind, when) => {
  const table = `${kind}_${when}`
  await pair(table)
  const set = () => pool.query(`select tasks.set_on_failure('tasks', $1, $2)`, [table, `office.${table}_letter`])
  if (when === 'before') await set()
  const own = await poolOf(kind, table)
  if (when === 'after') await set()
  const run = await startRun(pool, table)
  await own.query(`select tasks.retry_tasks_${table}($1)`, [run.id])
  expect(await rowsOf(pool, `select failed_id from office.${table}_letter`)).toEqual([{ failed_id: run.id }])
})

it('a role without any right but UPDATE on the table fails a task, and the letter is warned about', async () => {
  await pair('manual')
  await pool.query(`select tasks.set_on_failure('tasks', 'manual', 'office.manual_letter')`)
  const role = await database.createRole('updater')
  await pool.query(`grant usage on schema tasks to ${role.name}`)
  await pool.query(`grant select, update on tasks.manual to ${role.name}`)
  const own = new Pool({ connectionString: role.url, max: 1 })
  onTestFinished(() => own.end())
  const run = await startRun(pool, 'manual')
  await own.query('update tasks.manual set failed_at = now() where id = $1', [run.id])
  expect(await scalarOf(pool, 'select failed_at is not null from tasks.manual where id = $1', [run.id])).toBe(true)
  expect(await rowsOf(pool, 'select from office.manual_letter')).toEqual([])
})

it('an operator lists, counts and resets failed tasks', async () => {
  await createTaskType(pool, 'operated')
  const own = await poolOf('operator', 'operated')
  const { id } = await taskInState(pool, 'operated', 'failed')
  expect(await rowsOf(own, `select id from tasks.failed_tasks('tasks.operated')`)).toEqual([{ id }])
  expect(await scalarOf(own, `select tasks.reset_failed('tasks.operated', p_preview => true)`)).toBe('1')
  expect(await scalarOf(own, `select tasks.reset_failed('tasks.operated')`)).toBe('1')
})
