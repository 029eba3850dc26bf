import type { Client } from 'pg'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { startRun, stateOf } from './task-in-state.js'
import { pidOf, waitUntilBlocked } from './wait-until-blocked.js'

// A handler's transaction that finishes its task and hasn't committed yet.
const database = await createDatabase()
const session = await database.client()
const handler = await database.client()

beforeAll(() => createTaskType(session, 'mail', { settings: "timeout => '10 s', max_retries => 1000" }))

afterEach(async () => {
  await handler.query('rollback')
  await moveClock(session, '0')
  await session.query('delete from tasks.mail')
})

async function finishUncommitted(client: Client = handler) {
  const run = await startRun(session, 'mail')
  await client.query('begin')
  await client.query('select tasks.finish_tasks_mail($1, run_token => $2)', [run.id, run.token])
  return run
}

it('is not waited for by acquire and rescue, and keeps its task when it commits after the lease has ended', async () => {
  const { id } = await finishUncommitted()
  await moveClock(session, '1 hour')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('0')
  expect(await rowsOf(session, 'select * from tasks.acquire_tasks_mail(10)')).toEqual([])
  await handler.query('commit')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('0')
  expect(await stateOf(session, 'mail', id)).toBe('finished')
})

it('gives its task back to a rescue when it rolls back after the lease has ended', async () => {
  const { id, token } = await finishUncommitted()
  await moveClock(session, '1 hour')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('0')
  await handler.query('rollback')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('1')
  const late = await refusalOf(session.query('select tasks.finish_tasks_mail($1, run_token => $2)', [id, token]))
  expect(late.code).toBe('TQ001')
})

it('keeps a rescue from taking the dead worker lease along, so that the task is rescued once the row is free', async () => {
  const worker = '22222222-2222-4222-8222-222222222222'
  await session.query("insert into tasks.mail (planned_to) values ('-infinity')")
  const [run] = await rowsOf(session, 'select id, run_token as token from tasks.acquire_tasks_mail(1, $1)', [worker])
  await handler.query('begin')
  await handler.query('select tasks.finish_tasks_mail($1, run_token => $2)', [run?.id, run?.token])
  await moveClock(session, '1 hour')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('0')
  expect(await scalarOf(session, 'select count(*) from tasks.leases where worker_id = $1', [worker])).toBe('1')
  await handler.query('rollback')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('1')
  expect(await scalarOf(session, 'select count(*) from tasks.leases where worker_id = $1', [worker])).toBe('0')
})

it('is waited for by cancel, which then reports the task as finished', async () => {
  const { id } = await finishUncommitted()
  const canceling = session.query('select tasks.cancel_tasks_mail($1) as state', [id])
  await waitUntilBlocked(database.pool, session)
  await handler.query('commit')
  expect((await canceling).rows).toEqual([{ state: 'finished' }])
  expect(await scalarOf(session, 'select canceled from tasks.mail where id = $1', [id])).toBe(false)
})

it('is waited for by cancel, which cancels when it rolls back; its run is stale then', async () => {
  const { id, token } = await finishUncommitted()
  const canceling = session.query('select tasks.cancel_tasks_mail($1) as state', [id])
  await waitUntilBlocked(database.pool, session)
  await handler.query('rollback')
  expect((await canceling).rows).toEqual([{ state: 'running' }])
  const late = await refusalOf(handler.query('select tasks.finish_tasks_mail($1, run_token => $2)', [id, token]))
  expect(late).toMatchObject({ code: 'TQ001', message: `finish: task ${id} of tasks.mail is canceled, not running` })
})

it('is waited for by reset, which then refuses to undo a finish that its caller did not see', async () => {
  const { id } = await finishUncommitted()
  const resetting = refusalOf(session.query('select tasks.reset_tasks_mail($1)', [id]))
  await waitUntilBlocked(database.pool, session)
  await handler.query('commit')
  expect(await resetting).toMatchObject({
    code: 'TQ006',
    message: `reset: task ${id} of tasks.mail was running and is finished meanwhile`,
  })
  expect(await stateOf(session, 'mail', id)).toBe('finished')
  expect(await scalarOf(session, 'select tasks.reset_tasks_mail($1)', [id])).toBe('finished')
  expect(await stateOf(session, 'mail', id)).toBe('ready')
})

it('is waited for by reset, which resets when it rolls back', async () => {
  const { id } = await finishUncommitted()
  const resetting = session.query('select tasks.reset_tasks_mail($1) as state', [id])
  await waitUntilBlocked(database.pool, session)
  await handler.query('rollback')
  expect((await resetting).rows).toEqual([{ state: 'running' }])
  expect(await stateOf(session, 'mail', id)).toBe('ready')
})

it('makes a finish wait that raced a cancel, and then fail', async () => {
  const { id, token } = await startRun(session, 'mail')
  await handler.query('begin')
  expect(await scalarOf(handler, 'select tasks.cancel_tasks_mail($1)', [id])).toBe('running')
  const finishing = refusalOf(session.query('select tasks.finish_tasks_mail($1, run_token => $2)', [id, token]))
  await waitUntilBlocked(database.pool, session)
  await handler.query('commit')
  expect((await finishing).code).toBe('TQ001')
  expect(await stateOf(session, 'mail', id)).toBe('canceled')
})

it('does not make a cancel wait for a task that has ended, whoever holds its row', async () => {
  const { id } = await startRun(session, 'mail')
  await session.query('select tasks.finish_tasks_mail($1)', [id])
  await handler.query('begin')
  await handler.query('select from tasks.mail where id = $1 for update', [id])
  await session.query("set lock_timeout = '2s'")
  expect(await scalarOf(session, 'select tasks.cancel_tasks_mail($1)', [id])).toBe('finished')
  await session.query('reset lock_timeout')
})

it('is ended by the server when its client falls silent for the length of the lease', async () => {
  await session.query("select tasks.configure('tasks', 'mail', 'timeout', '300 ms')")
  const silent = await database.client()
  const { id } = await finishUncommitted(silent)
  const pid = pidOf(silent)
  await waitFor(
    async () => !(await scalarOf(session, 'select exists (select from pg_stat_activity where pid = $1)', [pid])),
    {
      what: 'the silent session to end',
    },
  )
  expect(await stateOf(session, 'mail', id)).toBe('running')
  await session.query("select tasks.configure('tasks', 'mail', 'timeout', '10 s')")
})

it('never gets a longer idle limit by a finish than it had, and loses the new one with its end', async () => {
  const limit = () => scalarOf(handler, "select current_setting('idle_in_transaction_session_timeout')")
  for (const [before, during] of [
    ['0', '10s'],
    ['1min', '10s'],
    ['10s', '10s'],
    ['1500ms', '1500ms'],
  ]) {
    await handler.query(`set idle_in_transaction_session_timeout = '${before}'`)
    await finishUncommitted()
    expect(await limit()).toBe(during)
    await handler.query('commit')
    expect(await limit()).toBe(before)
  }
  await handler.query('reset idle_in_transaction_session_timeout')
})

// B-64
it('loses to another that finishes the same tasks in opposite order, and may be repeated', async () => {
  const [first, second] = [await startRun(session, 'mail'), await startRun(session, 'mail')]
  const finish = (client: Client, run: typeof first) =>
    client.query('select tasks.finish_tasks_mail($1, run_token => $2)', [run.id, run.token])
  await session.query('begin')
  await handler.query('begin')
  await finish(session, first)
  await finish(handler, second)
  const results = await Promise.allSettled([finish(session, second), finish(handler, first)])
  const loser = results[0]?.status === 'rejected' ? session : handler
  expect(results.filter((result) => result.status === 'rejected')).toMatchObject([{ reason: { code: '40P01' } }])
  await loser.query('rollback')
  await (loser === session ? handler : session).query('commit')
  expect(await stateOf(session, 'mail', first.id)).toBe('finished')
  expect(await stateOf(session, 'mail', second.id)).toBe('finished')
})
