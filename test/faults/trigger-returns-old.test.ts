import { beforeEach, describe, expect, it } from 'vitest'
import { createTaskType } from '../integration/sql/create-task-type.js'
import { moveClock } from '../integration/sql/move-clock.js'
import { refusalOf } from '../integration/sql/refusal-of.js'
import { rowsOf, scalarOf } from '../integration/sql/rows-of.js'
import { createDatabase } from '../support/test-database.js'

const database = await createDatabase()
const session = await database.client()
await session.query(`create function keep() returns trigger language plpgsql as
  'begin if old.id = 2 then return old; end if; return new; end'`)

/** A row that is updated to what it was: the statement counts it, and nothing has changed. */
const keepTheSecond = () =>
  session.query('create trigger keep before update on tasks.kept for each row execute function keep()')

beforeEach(async () => {
  await moveClock(session, '0')
  await session.query('drop table if exists tasks.kept cascade')
  await createTaskType(session, 'kept', { settings: "timeout => '10 s'" })
  await session.query("insert into tasks.kept (payload) values ('a'), ('b'), ('c')")
})

const acquire = () =>
  rowsOf<{ id: string; token: string }>(session, 'select id, run_token as token from tasks.acquire_tasks_kept(10)')

const states = () =>
  rowsOf(
    session,
    `select id::int, tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) as state
     from tasks.kept order by id`,
  )

it('is not acquired, and the others are', async () => {
  await keepTheSecond()
  expect((await acquire()).map(({ id }) => id)).toEqual(['1', '3'])
  expect(await acquire()).toEqual([])
})

describe('is not said to have ended', () => {
  it.each(['finish', 'retry', 'cancel', 'reset'])('by %s', async (verb) => {
    await acquire()
    await keepTheSecond()
    const refusal = await refusalOf(session.query(`select tasks.${verb}_tasks_kept(2)`))
    expect(refusal).toMatchObject({ code: 'TQ011', hint: expect.stringContaining('OLD') })
    await session.query(`select tasks.${verb}_tasks_kept(1)`)
  })

  it('by reset after its end', async () => {
    await acquire()
    await session.query('select tasks.finish_tasks_kept(2)')
    await keepTheSecond()
    expect((await refusalOf(session.query('select tasks.reset_tasks_kept(2)'))).code).toBe('TQ011')
  })

  it('by release and finish_many', async () => {
    const [, second] = await acquire()
    await keepTheSecond()
    expect(await scalarOf(session, 'select tasks.release_tasks_kept(2, $1)', [second?.token])).toBe(false)
    const refusal = await refusalOf(
      session.query('select tasks.finish_many_tasks_kept(array[2], array[$1::uuid])', [second?.token]),
    )
    expect(refusal.code).toBe('TQ011')
  })
})

it('does not hold up a rescue', async () => {
  await acquire()
  await keepTheSecond()
  await moveClock(session, '1 minute')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_kept()::int')).toBe(2)
  expect(await states()).toEqual([
    { id: 1, state: 'ready' },
    { id: 2, state: 'running' },
    { id: 3, state: 'ready' },
  ])
})
