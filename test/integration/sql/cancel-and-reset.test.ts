import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { STATES, startRun, stateOf, taskInState } from './task-in-state.js'

const database = await createDatabase()
const session = await database.client()
const listener = await database.client()
let heard: string[] = []
listener.on('notification', (notification) => heard.push(`${notification.channel} ${notification.payload}`))

beforeAll(async () => {
  await createTaskType(session, 'mail', { settings: 'max_retries => 1000' })
  await listener.query('listen pg_tasks')
  await listener.query('listen pg_tasks_control')
})

beforeEach(async () => {
  await listener.query('select')
  heard = []
})

afterEach(async () => {
  await session.query('truncate tasks.mail')
})

/** What was announced since the last call. */
async function announced(): Promise<string[]> {
  await listener.query('select')
  return heard.splice(0)
}

const control = async (id: string, what: string) =>
  `pg_tasks_control ${await scalarOf(session, "select 'tasks.mail'::regclass::oid")} ${id} ${what}`

describe('cancel', () => {
  it.each(['scheduled', 'ready', 'running'] as const)('ends a task that is %s and says that it was', async (state) => {
    const { id } = await taskInState(session, 'mail', state)
    expect(await scalarOf(session, "select tasks.cancel_tasks_mail($1, comment => 'no need')", [id])).toBe(state)
    expect(await stateOf(session, 'mail', id)).toBe('canceled')
    expect(
      await rowsOf(
        session,
        'select canceled, canceled_at is not null as dated, comment, run_token, run_worker, run_until, finished_at from tasks.mail',
      ),
    ).toEqual([
      {
        canceled: true,
        dated: true,
        comment: 'no need',
        run_token: null,
        run_worker: null,
        run_until: null,
        finished_at: null,
      },
    ])
    expect(await rowsOf(session, 'select id from tasks.acquire_tasks_mail(10)')).toEqual([])
  })

  it.each(['finished', 'failed', 'canceled'] as const)(
    'leaves a task that is %s and says that it is',
    async (state) => {
      const { id } = await taskInState(session, 'mail', state)
      const before = await rowsOf(session, 'select * from tasks.mail')
      expect(await scalarOf(session, "select tasks.cancel_tasks_mail($1, now(), 'no need')", [id])).toBe(state)
      expect(await rowsOf(session, 'select * from tasks.mail')).toEqual(before)
    },
  )

  // O-19
  it('stores planned_to and comment, each kept when none is given', async () => {
    const { id } = await startRun(session, 'mail')
    await session.query("select tasks.cancel_tasks_mail($1, '2100-01-01 00:00Z', 'moved')", [id])
    expect(await rowsOf(session, "select planned_to = '2100-01-01 00:00Z' as moved, comment from tasks.mail")).toEqual([
      { moved: true, comment: 'moved' },
    ])
    const other = await startRun(session, 'mail')
    await session.query('select tasks.cancel_tasks_mail($1)', [other.id])
    expect(await rowsOf(session, 'select planned_to::text, comment from tasks.mail where id = $1', [other.id])).toEqual(
      [{ planned_to: '-infinity', comment: null }],
    )
  })

  it('tells the worker of a running task, at commit, and wakes nobody', async () => {
    const { id } = await startRun(session, 'mail')
    await announced()
    await session.query('begin')
    await session.query('select tasks.cancel_tasks_mail($1)', [id])
    expect(await announced()).toEqual([])
    await session.query('commit')
    expect(await announced()).toEqual([await control(id, 'canceled')])
  })

  it('announces nothing for a task that is not running', async () => {
    for (const state of STATES) {
      if (state === 'running') continue
      const { id } = await taskInState(session, 'mail', state)
      await announced()
      await session.query('select tasks.cancel_tasks_mail($1)', [id])
      expect(await announced(), state).toEqual([])
    }
  })
})

describe('reset', () => {
  // O-24, O-25
  it.each(STATES)('makes a task that is %s ready as if it had never run, and says what it was', async (state) => {
    const { id } = await taskInState(session, 'mail', state)
    await session.query(
      "update tasks.mail set comment = 'old', last_error = 'old', lost_count = 7, planned_to = 'infinity'",
    )
    expect(await scalarOf(session, 'select tasks.reset_tasks_mail($1)', [id])).toBe(
      state === 'ready' ? 'scheduled' : state,
    )
    expect(await stateOf(session, 'mail', id)).toBe('ready')
    expect(
      await rowsOf(
        session,
        `select execution_count, lost_count, started_at, finished_at, failed_at, canceled, canceled_at, failure_reason, last_error, comment,
           run_token, run_worker, run_until, planned_to <= clock_timestamp() and planned_to > clock_timestamp() - interval '1 minute' as now from tasks.mail`,
      ),
    ).toEqual([
      {
        execution_count: 0,
        lost_count: 0,
        started_at: null,
        finished_at: null,
        failed_at: null,
        canceled: false,
        canceled_at: null,
        failure_reason: null,
        last_error: null,
        comment: null,
        run_token: null,
        run_worker: null,
        run_until: null,
        now: true,
      },
    ])
    expect(await rowsOf(session, 'select id, execution_count from tasks.acquire_tasks_mail(10)')).toEqual([
      { id, execution_count: 1 },
    ])
  })

  it('wakes workers, and tells the one that runs the task', async () => {
    const waiting = await taskInState(session, 'mail', 'failed')
    await announced()
    await session.query('select tasks.reset_tasks_mail($1)', [waiting.id])
    expect(await announced()).toEqual(['pg_tasks tasks.mail'])
    const [running] = await rowsOf(session, 'select id from tasks.acquire_tasks_mail(1)')
    await announced()
    await session.query('select tasks.reset_tasks_mail($1)', [running?.id])
    expect((await announced()).sort()).toEqual(['pg_tasks tasks.mail', await control(running?.id, 'reset')])
  })

  it('says that there is no such task, and names task_id when it is NULL', async () => {
    expect(await refusalOf(session.query('select tasks.reset_tasks_mail(999999)'))).toMatchObject({
      code: 'TQ002',
      message: 'reset: there is no task 999999 in tasks.mail',
    })
    expect(await refusalOf(session.query('select tasks.reset_tasks_mail(null)'))).toMatchObject({
      code: 'TQ003',
      message: 'reset: task_id must not be NULL',
    })
  })

  it('keeps what the task is: its payload, priority and identity', async () => {
    await session.query(
      "insert into tasks.mail (payload, priority, trace_id, group_key, traceparent) values ('x', 3, gen_random_uuid(), 'g', 't')",
    )
    const columns = 'id, created_at, payload, priority, trace_id, group_key, traceparent'
    const before = await rowsOf(session, `select ${columns} from tasks.mail`)
    await session.query('select tasks.reset_tasks_mail(id) from tasks.acquire_tasks_mail(1)')
    expect(await rowsOf(session, `select ${columns} from tasks.mail`)).toEqual(before)
  })
})

it('a transaction that is rolled back announces nothing and changes nothing', async () => {
  const { id } = await startRun(session, 'mail')
  await announced()
  await session.query('begin')
  await session.query('select tasks.cancel_tasks_mail($1)', [id])
  await session.query('rollback')
  await session.query('begin')
  await session.query('select tasks.reset_tasks_mail($1)', [id])
  await session.query('rollback')
  expect(await announced()).toEqual([])
  expect(await stateOf(session, 'mail', id)).toBe('running')
})
