import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf } from '../sql/rows-of.js'
import { startRun, taskInState } from '../sql/task-in-state.js'
import { waitUntilBlocked } from '../sql/wait-until-blocked.js'
import { acquireAgain, begin, mark, marksOf } from './steps-of.js'

const database = await createDatabase()
const { pool } = database
await createTaskType(pool, 'mail', { settings: `timeout => '1 hour'` })

it('marks a step of a running task, with its value and attempt', async () => {
  const run = await startRun(pool, 'mail')
  expect(await begin(pool, 'mail', run)).toMatchObject({ marked: false, value: null })

  await mark(pool, 'mail', run, 'send', { letter: 7 })

  expect(await begin(pool, 'mail', run)).toMatchObject({ marked: true, value: { letter: 7 } })
  expect(await begin(pool, 'mail', run, 'archive')).toMatchObject({ marked: false })
  const [row] = await rowsOf(pool, 'select attempt, value from tasks.marks where task_id = $1', [run.id])
  expect(row).toEqual({ attempt: 1, value: { letter: 7 } })
})

it('keeps the first mark when a step is marked again', async () => {
  const run = await startRun(pool, 'mail')
  await mark(pool, 'mail', run, 'send', 'first')
  await mark(pool, 'mail', run, 'send', 'second')
  expect(await begin(pool, 'mail', run)).toMatchObject({ marked: true, value: 'first' })
})

it.each([
  ['ready', `select tasks.retry_tasks_mail($1, planned_to => 'infinity')`],
  ['reset', 'select tasks.reset_tasks_mail($1)'],
  ['canceled', 'select tasks.cancel_tasks_mail($1)'],
  ['finished', 'select tasks.finish_tasks_mail($1)'],
  ['gone', 'delete from tasks.mail where id = $1'],
])('refuses both calls of a run whose task is %s meanwhile, and writes nothing', async (_, statement) => {
  const run = await startRun(pool, 'mail')
  await begin(pool, 'mail', run)
  await pool.query(statement, [run.id])

  const codes = ['TQ001', 'TQ002']
  expect(codes).toContain((await refusalOf(mark(pool, 'mail', run))).code)
  expect(codes).toContain((await refusalOf(begin(pool, 'mail', run))).code)
  expect(codes).toContain((await refusalOf(begin(pool, 'mail', run, 'send', { probe: true }))).code)
  expect(await marksOf(pool, 'mail', run.id)).toEqual([])
  await pool.query('delete from tasks.mail where id = $1', [run.id])
})

it('refuses a run whose task was taken over between begin and mark, and lets the new run mark', async () => {
  const old = await startRun(pool, 'mail')
  await begin(pool, 'mail', old)
  await pool.query(`update tasks.mail set run_until = '-infinity' where id = $1`, [old.id])
  const taken = await acquireAgain(pool, 'mail', old.id)

  const refusal = await refusalOf(mark(pool, 'mail', old))
  expect(refusal).toMatchObject({ code: 'TQ001' })
  expect(refusal.message).toContain('is run by another')

  await mark(pool, 'mail', taken)
  expect(await marksOf(pool, 'mail', old.id)).toEqual(['send'])
})

it('says that steps come before finish to a run that finished in the same transaction', async () => {
  const run = await startRun(pool, 'mail')
  const session = await database.client()
  await session.query('begin')
  await session.query('select tasks.finish_tasks_mail($1, run_token => $2)', [run.id, run.token])
  expect(await refusalOf(mark(session, 'mail', run))).toMatchObject({
    code: 'TQ001',
    hint: 'Steps come before finish.',
  })
  await session.query('rollback')
})

it('holds a takeover off until the mark is committed', async () => {
  const run = await startRun(pool, 'mail')
  const [worker, other] = [await database.client(), await database.client()]
  await worker.query('begin')
  await mark(worker, 'mail', run)

  const reset = other.query('select tasks.reset_tasks_mail($1)', [run.id])
  await waitUntilBlocked(pool, other)
  await worker.query('commit')
  await reset

  expect(await marksOf(pool, 'mail', run.id)).toEqual(['send'])
})

it('waits for a takeover that is under way, and then refuses', async () => {
  const run = await startRun(pool, 'mail')
  const [worker, other] = [await database.client(), await database.client()]
  await other.query('begin')
  await other.query('select tasks.reset_tasks_mail($1)', [run.id])

  const refusal = refusalOf(mark(worker, 'mail', run))
  await waitUntilBlocked(pool, worker)
  await other.query('commit')

  expect((await refusal).code).toBe('TQ001')
  expect(await marksOf(pool, 'mail', run.id)).toEqual([])
})

it('lets nobody wait for a step that is under way, however long it takes', async () => {
  const run = await startRun(pool, 'mail')
  const worker = await database.client()
  await worker.query('begin')
  await begin(worker, 'mail', run)

  await pool.query('select tasks.cancel_tasks_mail($1)', [run.id])

  expect((await refusalOf(mark(worker, 'mail', run))).code).toBe('TQ001')
  await worker.query('rollback')
})

it('tells a probe at once when another transaction holds the task', async () => {
  const run = await startRun(pool, 'mail')
  const handler = await database.client()
  await handler.query('begin')
  await handler.query('select tasks.finish_tasks_mail($1, run_token => $2)', [run.id, run.token])

  const refusal = await refusalOf(begin(pool, 'mail', run, 'send', { probe: true }))
  expect(refusal).toMatchObject({ code: 'TQ013' })
  expect(refusal.message).toContain(`another transaction holds task ${run.id} of tasks.mail`)
  expect(refusal.hint).toContain('once(connection, step, work)')
  // The one with which a mark is written apart from the handler's transaction doesn't wait either.
  const unmarked = pool.query(`select tasks.mark_step('tasks.mail'::regclass, $1, $2, 'send', p_wait => false)`, [
    run.id,
    run.token,
  ])
  expect((await refusalOf(unmarked)).code).toBe('TQ013')
  await handler.query('rollback')
  expect(await begin(pool, 'mail', run, 'send', { probe: true })).toMatchObject({ marked: false })
})

it('waits a second at most for the same mark in an open transaction', async () => {
  const run = await startRun(pool, 'mail')
  const handler = await database.client()
  await handler.query('begin')
  await mark(handler, 'mail', run)

  const refusal = await refusalOf(
    pool.query(`select tasks.mark_step('tasks.mail'::regclass, $1, $2, 'send', p_wait => false)`, [run.id, run.token]),
  )
  expect(refusal).toMatchObject({ code: 'TQ013' })
  expect(refusal.message).toContain('has marked the step send')
  await handler.query('commit')
})

it('refuses a mark by 40001 where a stricter isolation looks at the past', async () => {
  const run = await startRun(pool, 'mail')
  const worker = await database.client()
  await worker.query('begin isolation level repeatable read')
  await begin(worker, 'mail', run)
  await pool.query('select tasks.reset_tasks_mail($1)', [run.id])
  expect((await refusalOf(mark(worker, 'mail', run))).code).toBe('40001')
  await worker.query('rollback')
})

it.each([
  ['no step', [null, `''`, `repeat('x', 1001)`]],
  ['no token', []],
])('names what is wrong with %s', async (_, steps) => {
  const run = await taskInState(pool, 'mail', 'running')
  for (const step of steps) {
    for (const verb of ['begin_step', 'mark_step']) {
      const refusal = await refusalOf(
        pool.query(`select tasks.${verb}('tasks.mail'::regclass, $1, $2, ${step})`, [run.id, run.token]),
      )
      expect(refusal).toMatchObject({ code: 'TQ003', message: `${verb}: step must be a name of at most 1000 bytes` })
    }
  }
  const refusal = await refusalOf(
    pool.query(`select tasks.begin_step('tasks.mail'::regclass, $1, null, 's')`, [run.id]),
  )
  expect(refusal.code).toBe('TQ003')
  await pool.query(`select tasks.mark_step('tasks.mail'::regclass, $1, $2, repeat('x', 1000))`, [run.id, run.token])
})

it("leaves the session's lock_timeout as it was", async () => {
  const run = await startRun(pool, 'mail')
  const session = await database.client()
  await session.query('begin')
  await session.query(`set local lock_timeout = '7s'`)
  await session.query(`select tasks.mark_step('tasks.mail'::regclass, $1, $2, 'send', p_wait => false)`, [
    run.id,
    run.token,
  ])
  expect(await rowsOf(session, 'show lock_timeout')).toEqual([{ lock_timeout: '7s' }])
  await session.query('commit')
})
