import { inTransaction } from '@pg-tasks/client'
import { Pool } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { refusalOf } from '../sql/refusal-of.js'
import { startRun } from '../sql/task-in-state.js'
import { startWorker, taskOf } from '../worker/start-worker.js'
import { mark, marksOf } from './steps-of.js'

const database = await createDatabase()
const { pool } = database

// The grants must do without the EXECUTE that PUBLIC has on every function.
await pool.query('revoke execute on all functions in schema tasks from public')

async function poolOf(kind: string, table: string): Promise<Pool> {
  const role = await database.createRole(kind)
  await pool.query('select tasks.grant_to($1, $2, $3, $4)', [role.name, kind, 'tasks', table])
  const own = new Pool({ connectionString: role.url, max: 4 })
  onTestFinished(() => own.end())
  return own
}

it("a worker's role does steps with the grants of a worker", async () => {
  await createTaskType(pool, 'steps', { backoffBase: '1 ms' })
  const own = await poolOf('worker', 'steps')
  const calls: string[] = []
  const handler = taskOf<object>('steps', async (_, context) => {
    await context.once('apart', async () => calls.push('apart'))
    await inTransaction(own, (tx) => context.once(tx, 'within', async () => calls.push('within')))
    if (context.attempt === 1) throw new Error('again')
  })
  const worker = await startWorker({ pool: own }, [handler, 1])
  const [id] = (await insertTasks(pool, 'steps')) as [string]
  await worker.seen('finished')
  expect(calls).toEqual(['apart', 'within'])
  expect(await marksOf(pool, 'steps', id)).toEqual(['apart', 'within'])
})

it("an operator's role forgets marks with a reset, and deletes tasks with their marks", async () => {
  await createTaskType(pool, 'operated')
  const own = await poolOf('operator', 'operated')
  const [first, second] = [await startRun(pool, 'operated'), await startRun(pool, 'operated')]
  await mark(pool, 'operated', first)
  await mark(pool, 'operated', second)
  await own.query(`select tasks.reset_tasks_operated($1, '{"forget_marks": true}')`, [first.id])
  expect(await marksOf(pool, 'operated', first.id)).toEqual([])
  await own.query('delete from tasks.operated')
  expect(await marksOf(pool, 'operated', second.id)).toEqual([])
})

it('who may only delete tasks takes their marks along without any right on them', async () => {
  await createTaskType(pool, 'deleted')
  const run = await startRun(pool, 'deleted')
  await mark(pool, 'deleted', run)
  const role = await database.createRole('deleter')
  await pool.query(`grant usage on schema tasks to ${role.name}`)
  await pool.query(`grant select, delete on tasks.deleted to ${role.name}`)
  const own = new Pool({ connectionString: role.url, max: 1 })
  onTestFinished(() => own.end())
  expect((await refusalOf(own.query('select from tasks.marks'))).code).toBe('42501')
  await own.query('delete from tasks.deleted')
  expect(await marksOf(pool, 'deleted', run.id)).toEqual([])
})
