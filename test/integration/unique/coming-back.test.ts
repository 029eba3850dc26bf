import { beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { waitUntilBlocked } from '../sql/wait-until-blocked.js'

const database = await createDatabase()
const session = await database.client()
const other = await database.client()

beforeEach(async () => {
  await moveClock(session, '0')
  await session.query('drop table if exists tasks.mail cascade')
  await createTaskType(session, 'mail', { columns: 'shop integer', settings: "timeout => '10 s'" })
  await session.query("select tasks.unique_while('tasks', 'mail', '{shop}')")
})

const insert = (client = session, count = 1) =>
  client.query('insert into tasks.mail (shop) select g from generate_series(1, $1) g', [count])
const acquire = () =>
  rowsOf<{ id: string; token: string }>(session, 'select id, run_token as token from tasks.acquire_tasks_mail(10)')
const states = () =>
  rowsOf(
    session,
    `select id::int, tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) as state, comment
     from tasks.mail order by id`,
  )

const absorbed = [
  { id: 1, state: 'canceled', comment: 'absorbed by task 2' },
  { id: 2, state: 'ready', comment: null },
]

describe('a running task', () => {
  it('may have one follow-up', async () => {
    await insert()
    await acquire()
    await insert()
    expect((await refusalOf(insert())).code).toBe('23505')
    expect(await states()).toMatchObject([{ state: 'running' }, { state: 'ready' }])
  })

  it('may have none where running tasks count too', async () => {
    await session.query("select tasks.unique_while('tasks', 'mail', '{shop}', '{scheduled,ready,running}')")
    await insert()
    const [run] = await acquire()
    expect((await refusalOf(insert())).code).toBe('23505')
    expect(
      await rowsOf(session, "select outcome from tasks.enqueue('tasks.mail', '[{\"shop\": 1}]', 'ignore')"),
    ).toEqual([{ outcome: 'ignored' }])
    await session.query('select tasks.retry_tasks_mail($1)', [run?.id])
    await acquire()
    await session.query('select tasks.reset_tasks_mail($1)', [run?.id])
    await acquire()
    await session.query('select tasks.finish_tasks_mail($1)', [run?.id])
    await insert()
  })
})

describe('a task that comes back while its follow-up waits is absorbed', () => {
  it.each([
    ['retry', 'select tasks.retry_tasks_mail(1)'],
    ['release', 'select tasks.release_tasks_mail(1, (select run_token from tasks.mail where id = 1))'],
    ['reset', 'select tasks.reset_tasks_mail(1)'],
  ])('by a %s', async (_, call) => {
    await insert()
    await acquire()
    await insert()
    await session.query(call)
    expect(await states()).toEqual(absorbed)
  })

  it('by a reset after its end', async () => {
    await insert()
    await acquire()
    await session.query('select tasks.finish_tasks_mail(1)')
    await insert()
    await session.query('select tasks.reset_tasks_mail(1)')
    expect(await states()).toEqual(absorbed)
  })

  it('by a rescue, of many at once', async () => {
    await insert(session, 20)
    await acquire()
    await acquire()
    await session.query('insert into tasks.mail (shop) select g from generate_series(1, 20, 2) g')
    await moveClock(session, '1 minute')
    expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('20')
    const after = await states()
    expect(after.filter(({ state }) => state === 'canceled')).toHaveLength(10)
    expect(after.filter(({ state }) => state === 'ready')).toHaveLength(20)
  })

  it('by a rescue of the task and its follow-up in one statement', async () => {
    await insert()
    await acquire()
    await insert()
    await acquire()
    await moveClock(session, '1 minute')
    expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('2')
    expect((await states()).map(({ state }) => state).sort()).toEqual(['canceled', 'ready'])
  })

  it.each([
    ['retry', 'select tasks.retry_tasks_mail($1, run_token => $2)'],
    ['release', 'select tasks.release_tasks_mail($1, $2)'],
    ['reset', 'select tasks.reset_tasks_mail($1), $2::uuid'],
  ])('by a %s although the follow-up was not committed yet', async (_, call) => {
    await insert()
    const [run] = await acquire()
    await other.query('begin')
    await insert(other)
    const back = session.query(call, [run?.id, run?.token])
    await waitUntilBlocked(database.pool, session)
    await other.query('commit')
    await back
    expect(await states()).toEqual(absorbed)
  })

  it('by a reset of all failed ones, one of whose follow-ups was not committed yet', async () => {
    await insert(session, 2)
    await acquire()
    await session.query(
      "update tasks.mail set failed_at = now(), failure_reason = 'error' where started_at is not null",
    )
    await other.query('begin')
    await insert(other)
    const back = scalarOf(session, "select tasks.reset_failed('tasks.mail')")
    await waitUntilBlocked(database.pool, session)
    await other.query('commit')
    expect(await back).toBe('2')
    expect((await states()).map(({ state }) => state)).toEqual(['canceled', 'ready', 'ready'])
  })

  it('by the next rescue if the follow-up was not committed yet; the others come back at once', async () => {
    await insert(session, 3)
    await acquire()
    await moveClock(session, '1 minute')
    await other.query('begin')
    await insert(other)
    const rescue = session.query('select tasks.rescue_tasks_mail()')
    await waitUntilBlocked(database.pool, session)
    await other.query('commit')
    await rescue
    await session.query('select tasks.rescue_tasks_mail()')
    expect((await states()).map(({ state }) => state)).toEqual(['canceled', 'ready', 'ready', 'ready'])
  })
})
