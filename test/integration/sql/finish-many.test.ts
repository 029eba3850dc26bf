import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'
import { type Run, STATES, stateOf, taskInState } from './task-in-state.js'

const database = await createDatabase()
const session = await database.client()

beforeAll(async () => {
  await createTaskType(session, 'mail', { settings: "timeout => '10 s', max_retries => 1000" })
  await createTaskType(session, 'gone', { settings: "storage_time => '0'" })
})

afterEach(async () => {
  await session.query('delete from tasks.mail')
  await session.query('delete from tasks.gone')
})

async function startRuns(name: string, count: number): Promise<Run[]> {
  await session.query(`insert into tasks.${name} (planned_to) select '-infinity' from generate_series(1, $1)`, [count])
  return rowsOf<Run>(session, `select id, run_token as token from tasks.acquire_tasks_${name}($1)`, [count])
}

async function finishMany(name: string, runs: readonly Run[]): Promise<Record<string, string>> {
  const rows = await rowsOf(session, `select task_id, outcome from tasks.finish_many_tasks_${name}($1, $2)`, [
    runs.map((run) => run.id),
    runs.map((run) => run.token),
  ])
  return Object.fromEntries(rows.map((row) => [row.task_id, row.outcome]))
}

it('finishes every pair and says nothing about those', async () => {
  const runs = await startRuns('mail', 50)
  expect(await finishMany('mail', runs.toReversed())).toEqual({})
  expect(await scalarOf(session, 'select count(finished_at) from tasks.mail')).toBe('50')
})

it('compares pairs: of two runs with swapped tokens it finishes none', async () => {
  const [first, second, third] = (await startRuns('mail', 3)) as [Run, Run, Run]
  const swapped = [{ id: first.id, token: second.token }, { id: second.id, token: first.token }, third]
  expect(await finishMany('mail', swapped)).toEqual({ [first.id]: 'stale', [second.id]: 'stale' })
  expect(await stateOf(session, 'mail', first.id)).toBe('running')
  expect(await stateOf(session, 'mail', second.id)).toBe('running')
  expect(await stateOf(session, 'mail', third.id)).toBe('finished')
})

it('tells the outcome of every run that it does not finish', async () => {
  const runs = await startRuns('mail', 2)
  const outcomes: Record<string, string> = { '999999': 'missing' }
  runs.push({ id: '999999', token: runs[0]?.token as string })
  for (const state of STATES) {
    if (state === 'running') continue
    const run = await taskInState(session, 'mail', state)
    runs.push(run)
    outcomes[run.id] = state === 'finished' ? 'finished' : 'stale'
  }
  const before = await rowsOf(session, 'select * from tasks.mail where id <> all ($1) order by id', [
    runs.slice(0, 2).map((run) => run.id),
  ])
  expect(await finishMany('mail', runs)).toEqual(outcomes)
  expect(
    await rowsOf(session, 'select * from tasks.mail where id <> all ($1) order by id', [
      runs.slice(0, 2).map((run) => run.id),
    ]),
  ).toEqual(before)
})

it('calls a run finished that it finished before, so that a repeat after an unknown COMMIT succeeds', async () => {
  const runs = await startRuns('mail', 3)
  expect(await finishMany('mail', runs)).toEqual({})
  const times = await rowsOf(session, 'select id, finished_at::text from tasks.mail order by id')
  expect(await finishMany('mail', runs)).toEqual(Object.fromEntries(runs.map((run) => [run.id, 'finished'])))
  expect(await rowsOf(session, 'select id, finished_at::text from tasks.mail order by id')).toEqual(times)
})

it('passes by a row that another transaction holds, and finishes it later', async () => {
  const runs = (await startRuns('mail', 3)) as [Run, Run, Run]
  const other = await database.client()
  await other.query('begin')
  await other.query('select tasks.finish_tasks_mail($1, run_token => $2)', [runs[1].id, runs[1].token])
  expect(await finishMany('mail', runs)).toEqual({ [runs[1].id]: 'locked' })
  await other.query('rollback')
  expect(await finishMany('mail', runs)).toEqual({ [runs[0].id]: 'finished', [runs[2].id]: 'finished' })
  expect(await scalarOf(session, 'select count(finished_at) from tasks.mail')).toBe('3')
})

it('accepts the same pair twice, and empty arrays', async () => {
  const [run] = (await startRuns('mail', 1)) as [Run]
  expect(await finishMany('mail', [run, run])).toEqual({})
  expect(await stateOf(session, 'mail', run.id)).toBe('finished')
  expect(await finishMany('mail', [])).toEqual({})
})

it('calls the wrong one of two tokens for the same task stale', async () => {
  const [run] = (await startRuns('mail', 1)) as [Run]
  expect(await finishMany('mail', [{ id: run.id, token: '11111111-1111-4111-8111-111111111111' }, run])).toEqual({
    [run.id]: 'stale',
  })
  expect(await stateOf(session, 'mail', run.id)).toBe('finished')
})

it('finishes nothing for a NULL token or a NULL id', async () => {
  const [run] = (await startRuns('mail', 1)) as [Run]
  await session.query('update tasks.mail set run_token = null')
  await rowsOf(session, 'select * from tasks.finish_many_tasks_mail($1, $2)', [
    [run.id, null],
    [null, run.token],
  ])
  expect(await stateOf(session, 'mail', run.id)).toBe('running')
})

it('refuses NULL arrays and arrays of different length', async () => {
  for (const arrays of ["null, '{}'", "'{}', null", "'{1,2}', array[gen_random_uuid()]"]) {
    const error = await refusalOf(session.query(`select tasks.finish_many_tasks_mail(${arrays})`))
    expect(error).toMatchObject({
      code: 'TQ003',
      message: 'finish_many: task_ids and run_tokens must be arrays of the same length',
    })
  }
})

it('raises for a row that a trigger keeps back, and finishes nothing then', async () => {
  const [first, second] = (await startRuns('mail', 2)) as [Run, Run]
  await session.query(`
    create function keep() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger keep before update on tasks.mail for each row when (new.id = ${second.id}) execute function keep()`)
  const error = await refusalOf(finishMany('mail', [first, second]))
  expect(error).toMatchObject({
    code: 'TQ011',
    message: `finish_many: task ${second.id} of tasks.mail was kept back by a trigger or by row level security`,
  })
  expect(await stateOf(session, 'mail', first.id)).toBe('running')
  expect(await finishMany('mail', [first])).toEqual({})
  expect((await refusalOf(session.query('select tasks.finish_tasks_mail($1)', [second.id]))).code).toBe('TQ011')
  await session.query('drop trigger keep on tasks.mail')
})

describe('with storage_time 0', () => {
  it('deletes at finish, and calls a task that is gone missing', async () => {
    const runs = await startRuns('gone', 5)
    expect(await finishMany('gone', runs)).toEqual({})
    expect(await scalarOf(session, 'select count(*) from tasks.gone')).toBe('0')
    expect(await finishMany('gone', runs)).toEqual(Object.fromEntries(runs.map((run) => [run.id, 'missing'])))
  })

  it('deletes one by its own finish, only for the run that has the token', async () => {
    const [run] = (await startRuns('gone', 1)) as [Run]
    const wrong = session.query('select tasks.finish_tasks_gone($1, run_token => gen_random_uuid())', [run.id])
    expect((await refusalOf(wrong)).code).toBe('TQ001')
    expect(await stateOf(session, 'gone', run.id)).toBe('running')
    expect(await scalarOf(session, 'select tasks.finish_tasks_gone($1, run_token => $2)', [run.id, run.token])).toBe(
      'finished',
    )
    expect(await stateOf(session, 'gone', run.id)).toBeUndefined()
    const again = await refusalOf(
      session.query('select tasks.finish_tasks_gone($1, run_token => $2)', [run.id, run.token]),
    )
    expect(again.code).toBe('TQ002')
  })

  it.each(['', 'deferrable initially deferred'])(
    'finishes what a foreign key (%s) holds, and deletes the rest',
    async (deferrable) => {
      await session.query(`create table letter (task_id bigint references tasks.gone ${deferrable})`)
      const [held, free, single] = (await startRuns('gone', 3)) as [Run, Run, Run]
      await session.query('insert into letter values ($1), ($2)', [held.id, single.id])
      expect(await finishMany('gone', [held, free])).toEqual({})
      expect(await stateOf(session, 'gone', held.id)).toBe('finished')
      expect(await stateOf(session, 'gone', free.id)).toBeUndefined()
      expect(await scalarOf(session, 'select tasks.finish_tasks_gone($1, comment => $2)', [single.id, 'sent'])).toBe(
        'finished',
      )
      expect(await stateOf(session, 'gone', single.id)).toBe('finished')
      await session.query('drop table letter')
      expect(await scalarOf(session, 'select tasks.clean_tasks_gone()')).toBe('2')
    },
  )
})
