import { beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()
const worker = '66666666-6666-4666-8666-666666666661'

beforeEach(async () => {
  await moveClock(session, '0')
  await session.query('truncate tasks.attempts')
  await session.query('drop table if exists tasks.mail cascade')
  await createTaskType(session, 'mail', { settings: "timeout => '10 s', max_retries => 1" })
  await session.query("select tasks.keep_history('tasks', 'mail', '3 days')")
})

async function acquire(): Promise<string> {
  const runs = await rowsOf<{ id: string }>(session, 'select id from tasks.acquire_tasks_mail(10, $1)', [worker])
  expect(runs).toHaveLength(1)
  return runs[0]?.id as string
}

const attempts = () => rowsOf(session, 'select attempt, outcome, error from tasks.attempts order by ended_at, attempt')

describe('an attempt is written', () => {
  beforeEach(() => session.query('insert into tasks.mail default values'))

  it.each([
    ['finished', 'select tasks.finish_tasks_mail($1)', null],
    [
      'finished',
      'select * from tasks.finish_many_tasks_mail(array[$1]::bigint[], array(select run_token from tasks.mail))',
      null,
    ],
    ['retried', "select tasks.retry_tasks_mail($1, error => 'boom')", 'boom'],
    ['canceled', 'select tasks.cancel_tasks_mail($1)', null],
    ['released', 'select tasks.release_tasks_mail($1, (select run_token from tasks.mail))', null],
    ['reset', 'select tasks.reset_tasks_mail($1)', null],
    ['canceled', 'delete from tasks.mail where id = $1', null],
  ])('as %s after %s', async (outcome, call, error) => {
    const id = await acquire()
    await session.query(call, [id])
    expect(await attempts()).toEqual([{ attempt: 1, outcome, error }])
    expect(
      await rowsOf(
        session,
        'select task_id, worker_id, table_id::text, started_at < ended_at as lasted from tasks.attempts',
      ),
    ).toEqual([{ task_id: id, worker_id: worker, table_id: 'tasks.mail', lasted: true }])
  })

  it('as finished where the finish deletes', async () => {
    await session.query("select tasks.configure('tasks', 'mail', 'storage_time', '0')")
    await session.query('select tasks.finish_tasks_mail($1)', [await acquire()])
    expect(await attempts()).toEqual([{ attempt: 1, outcome: 'finished', error: null }])
  })

  it('with the error of each, also where it is the same again, and as failed at the last', async () => {
    for (const _ of [1, 2]) {
      await session.query("select tasks.retry_tasks_mail($1, delay => '0', error => 'boom')", [await acquire()])
    }
    expect(await attempts()).toEqual([
      { attempt: 1, outcome: 'retried', error: 'boom' },
      { attempt: 2, outcome: 'failed', error: 'boom' },
    ])
  })

  it('as lost when its lease ended, for good or not', async () => {
    for (const elapsed of ['1 minute', '2 minutes']) {
      await acquire()
      await moveClock(session, elapsed)
      expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('1')
    }
    expect(await attempts()).toMatchObject([
      { attempt: 1, outcome: 'lost' },
      { attempt: 2, outcome: 'lost' },
    ])
  })

  it('not for what happens to a task that does not run', async () => {
    await session.query("update tasks.mail set planned_to = now(), comment = 'x'")
    await session.query('select tasks.reset_tasks_mail(id), tasks.cancel_tasks_mail(id) from tasks.mail')
    await session.query('delete from tasks.mail')
    expect(await attempts()).toEqual([])
  })

  it('no more after it was switched off, and not for a type that never asked', async () => {
    for (const _ of [1, 2]) await session.query("select tasks.keep_history('tasks', 'mail', null)")
    await session.query('select tasks.finish_tasks_mail($1)', [await acquire()])
    expect(await attempts()).toEqual([])
    expect(
      await scalarOf(
        session,
        "select count(*)::int from pg_trigger where tgrelid = 'tasks.mail'::regclass and tgname like 'pg_tasks_history%'",
      ),
    ).toBe(0)
  })
})

it.each([
  ["keep_history('tasks', 'mail', '0')", 'TQ003', /history_time/],
  ["keep_history('tasks', 'mail', '-1 day')", 'TQ003', /history_time/],
  ["keep_history('tasks', 'nothing')", 'TQ004', /nothing/],
])('refuses %s', async (call, code, message) => {
  const refusal = await refusalOf(session.query(`select tasks.${call}`))
  expect(refusal.code).toBe(code)
  expect(refusal.message).toMatch(message)
})
