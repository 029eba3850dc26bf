import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { STATES, startRun, stateOf, taskInState } from './task-in-state.js'

const database = await createDatabase()
// One session: a pooled one may still be giving its locks back when its error has arrived.
const session = await database.client()
const wrongToken = '11111111-1111-4111-8111-111111111111'

beforeAll(() => createTaskType(session, 'mail', { settings: "timeout => '10 s', max_retries => 1000" }))

afterEach(async () => {
  await moveClock(session, '0')
  await session.query('delete from tasks.mail')
})

const rowOf = (id: string) => rowsOf(session, 'select * from tasks.mail where id = $1', [id])

/** The call of a verb that a run makes; `$1` is the id, `$2` the token. */
const verbs = {
  finish: 'select tasks.finish_tasks_mail($1, run_token => $2)',
  retry: 'select tasks.retry_tasks_mail($1, run_token => $2)',
  cancel: 'select tasks.cancel_tasks_mail($1, run_token => $2)',
}
const ends = { finish: 'finished', retry: 'scheduled', cancel: 'canceled' }

describe.each(Object.keys(verbs) as Array<keyof typeof verbs>)('%s', (verb) => {
  it('succeeds for the run that has the token', async () => {
    const { id, token } = await startRun(session, 'mail')
    await session.query(verbs[verb], [id, token])
    expect(await stateOf(session, 'mail', id)).toBe(ends[verb])
  })

  // O-20
  it('refuses another token and changes nothing', async () => {
    const { id } = await startRun(session, 'mail')
    const before = await rowOf(id)
    const error = await refusalOf(session.query(verbs[verb], [id, wrongToken]))
    expect(error).toMatchObject({ code: 'TQ001', message: `${verb}: task ${id} of tasks.mail is run by another` })
    expect(error.hint).toContain('roll back')
    expect(await rowOf(id)).toEqual(before)
  })

  it.each(STATES.filter((state) => state !== 'running'))(
    'refuses the token of a run whose task is %s now',
    async (state) => {
      const { id, token } = await taskInState(session, 'mail', state)
      const before = await rowOf(id)
      const error = await refusalOf(session.query(verbs[verb], [id, token]))
      expect(error.code).toBe('TQ001')
      expect(error.message).toContain(state)
      expect(await rowOf(id)).toEqual(before)
    },
  )

  it.each(STATES.filter((state) => state !== 'running'))(
    'refuses a wrong token for a task that is %s',
    async (state) => {
      const { id } = await taskInState(session, 'mail', state)
      const before = await rowOf(id)
      expect((await refusalOf(session.query(verbs[verb], [id, wrongToken]))).code).toBe('TQ001')
      expect(await rowOf(id)).toEqual(before)
    },
  )

  // O-21
  it('says that there is no such task', async () => {
    for (const token of [null, wrongToken]) {
      const error = await refusalOf(session.query(verbs[verb], ['999999', token]))
      expect(error).toMatchObject({ code: 'TQ002', message: `${verb}: there is no task 999999 in tasks.mail` })
    }
  })

  it('names task_id when it is NULL', async () => {
    const error = await refusalOf(session.query(verbs[verb], [null, null]))
    expect(error).toMatchObject({ code: 'TQ003', message: `${verb}: task_id must not be NULL` })
  })

  it('refuses a run whose task was taken over', async () => {
    const first = await startRun(session, 'mail')
    await moveClock(session, '11 s')
    const [second] = await rowsOf(session, 'select id, run_token as token from tasks.acquire_tasks_mail(1)')
    expect(second?.id).toBe(first.id)
    expect(second?.token).not.toBe(first.token)
    expect((await refusalOf(session.query(verbs[verb], [first.id, first.token]))).code).toBe('TQ001')
    await session.query(verbs[verb], [first.id, second?.token])
    expect(await stateOf(session, 'mail', first.id)).toBe(ends[verb])
  })

  it('is still allowed after the lease has ended, as long as nobody took the task', async () => {
    const { id, token } = await startRun(session, 'mail')
    await moveClock(session, '1 hour')
    await session.query(verbs[verb], [id, token])
    expect(await stateOf(session, 'mail', id)).toBe(ends[verb])
  })

  it('refuses a run whose lease was rescued although nobody acquired the task again', async () => {
    const { id, token } = await startRun(session, 'mail')
    await moveClock(session, '11 s')
    expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('1')
    expect((await refusalOf(session.query(verbs[verb], [id, token]))).code).toBe('TQ001')
  })

  // O-25
  it('refuses a run whose task was reset, also when it is running again', async () => {
    const first = await startRun(session, 'mail')
    expect(await scalarOf(session, 'select tasks.reset_tasks_mail($1)', [first.id])).toBe('running')
    expect((await refusalOf(session.query(verbs[verb], [first.id, first.token]))).code).toBe('TQ001')
    await session.query('select tasks.acquire_tasks_mail(1)')
    expect((await refusalOf(session.query(verbs[verb], [first.id, first.token]))).code).toBe('TQ001')
    expect(await stateOf(session, 'mail', first.id)).toBe('running')
  })

  it('refuses a run that was released, also when another has the task', async () => {
    const { id, token } = await startRun(session, 'mail')
    expect(await scalarOf(session, 'select tasks.release_tasks_mail($1, $2)', [id, token])).toBe(true)
    expect((await refusalOf(session.query(verbs[verb], [id, token]))).code).toBe('TQ001')
    await session.query('select tasks.acquire_tasks_mail(1)')
    expect((await refusalOf(session.query(verbs[verb], [id, token]))).code).toBe('TQ001')
  })

  it('refuses the second call of the same run', async () => {
    const { id, token } = await startRun(session, 'mail')
    await session.query(verbs[verb], [id, token])
    expect((await refusalOf(session.query(verbs[verb], [id, token]))).code).toBe('TQ001')
  })

  it('rolls the work of a stale run back with its transaction', async () => {
    const { id, token } = await startRun(session, 'mail')
    await session.query('create table if not exists work (task_id bigint)')
    await session.query('select tasks.reset_tasks_mail($1)', [id])
    const client = await database.client()
    await client.query('begin')
    await client.query('insert into work values ($1)', [id])
    expect((await refusalOf(client.query(verbs[verb], [id, token]))).code).toBe('TQ001')
    expect((await client.query('commit')).command).toBe('ROLLBACK')
    expect(await scalarOf(session, 'select count(*) from work where task_id = $1', [id])).toBe('0')
  })
})

describe('without a token', () => {
  it.each(['finish', 'retry'] as const)('%s wins only while the task is running', async (verb) => {
    for (const state of STATES) {
      const { id } = await taskInState(session, 'mail', state)
      const call = session.query(verbs[verb], [id, null])
      if (state === 'running') {
        await call
        expect(await stateOf(session, 'mail', id)).toBe(ends[verb])
      } else {
        const error = await refusalOf(call)
        expect(error).toMatchObject({ code: 'TQ001', hint: 'Only a running task can be finished or retried.' })
        expect(await stateOf(session, 'mail', id)).toBe(state)
      }
      await session.query('delete from tasks.mail')
    }
  })

  // O-23
  it('finish refuses a task that nobody ever acquired', async () => {
    const id = await scalarOf<string>(session, 'insert into tasks.mail default values returning id')
    expect((await refusalOf(session.query('select tasks.finish_tasks_mail($1)', [id]))).message).toBe(
      `finish: task ${id} of tasks.mail is ready, not running`,
    )
  })

  // A Python worker of the convention gives id and started_at, often created_at in its place.
  it('finish accepts started_at of any kind, and neither stores nor compares it (O-22)', async () => {
    for (const startedAt of [null, '2000-01-01', 'infinity']) {
      const { id } = await startRun(session, 'mail')
      const before = await scalarOf(session, 'select started_at::text from tasks.mail where id = $1', [id])
      await session.query('select tasks.finish_tasks_mail($1, $2)', [id, startedAt])
      expect(await scalarOf(session, 'select started_at::text from tasks.mail where id = $1', [id])).toBe(before)
    }
  })

  it('one of two callers who finish the same run wins', async () => {
    const { id } = await startRun(session, 'mail')
    const results = await Promise.allSettled(
      [1, 2].map(() => database.pool.query('select tasks.finish_tasks_mail($1)', [id])),
    )
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})

describe('finish', () => {
  it('keeps the token, so that a repeat after an unknown COMMIT learns that the first went through', async () => {
    const { id, token } = await startRun(session, 'mail')
    await session.query(verbs.finish, [id, token])
    const error = await refusalOf(session.query(verbs.finish, [id, token]))
    expect(error).toMatchObject({
      code: 'TQ001',
      message: `finish: task ${id} of tasks.mail was finished by this run already`,
    })
    expect(error.hint).toContain('COMMIT went through')
    expect(
      await rowsOf(session, 'select * from tasks.finish_many_tasks_mail(array[$1]::bigint[], array[$2]::uuid[])', [
        id,
        token,
      ]),
    ).toEqual([{ task_id: id, outcome: 'finished' }])
  })

  it('stores the comment and keeps the older one when none is given (O-19)', async () => {
    const { id } = await startRun(session, 'mail')
    await session.query("select tasks.retry_tasks_mail($1, planned_to => now(), comment => 'first')", [id])
    await session.query('select tasks.acquire_tasks_mail(1)')
    await session.query('select tasks.finish_tasks_mail($1)', [id])
    expect(await scalarOf(session, 'select comment from tasks.mail where id = $1', [id])).toBe('first')
    const other = await startRun(session, 'mail')
    await session.query("select tasks.finish_tasks_mail($1, comment => 'sent')", [other.id])
    expect(await scalarOf(session, 'select comment from tasks.mail where id = $1', [other.id])).toBe('sent')
  })
})

describe('release', () => {
  it('gives the run back uncounted and at its old place', async () => {
    const { id, token } = await startRun(session, 'mail')
    expect(await scalarOf(session, 'select tasks.release_tasks_mail($1, $2)', [id, token])).toBe(true)
    expect(
      await rowsOf(
        session,
        'select execution_count, planned_to::text, started_at, run_token, run_until from tasks.mail where id = $1',
        [id],
      ),
    ).toEqual([{ execution_count: 0, planned_to: '-infinity', started_at: null, run_token: null, run_until: null }])
  })

  it.each(STATES)('says false for a wrong token in the state %s', async (state) => {
    const { id } = await taskInState(session, 'mail', state)
    const before = await rowOf(id)
    expect(await scalarOf(session, 'select tasks.release_tasks_mail($1, $2)', [id, wrongToken])).toBe(false)
    expect(await rowOf(id)).toEqual(before)
  })

  it.each(STATES.filter((state) => state !== 'running'))(
    'says false for a token of before in the state %s',
    async (state) => {
      const { id, token } = await taskInState(session, 'mail', state)
      const before = await rowOf(id)
      expect(await scalarOf(session, 'select tasks.release_tasks_mail($1, $2)', [id, token])).toBe(false)
      expect(await rowOf(id)).toEqual(before)
    },
  )

  it('says false for a task that is gone, and refuses NULL', async () => {
    expect(await scalarOf(session, 'select tasks.release_tasks_mail(999999, $1)', [wrongToken])).toBe(false)
    expect((await refusalOf(session.query('select tasks.release_tasks_mail(1, null)'))).message).toContain('run_token')
  })
})

it('gives every acquire and every row a token of its own', async () => {
  await session.query("insert into tasks.mail (planned_to) select '-infinity' from generate_series(1, 3)")
  const tokens = new Set<string>()
  for (let round = 0; round < 3; round += 1) {
    const rows = await rowsOf(session, 'select id, run_token as token from tasks.acquire_tasks_mail(10)')
    expect(rows).toHaveLength(3)
    for (const { id, token } of rows) {
      tokens.add(token)
      await session.query('select tasks.reset_tasks_mail($1)', [id])
    }
  }
  expect(tokens.size).toBe(9)
})
