import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()

beforeAll(async () => {
  await session.query('create domain counted as integer not null')
  await createTaskType(session, 'done', { columns: '"a, b" text, "c""d" text, n counted default 7' })
  await createTaskType(session, 'member')
  await createTaskType(session, 'dropped')
  await session.query("select tasks.use_groups('tasks', 'member'), tasks.use_groups('tasks', 'dropped')")
})

const group = async (key: string) =>
  (
    await rowsOf(
      session,
      'select ended_at is not null as ended, canceled::int, error from tasks.groups where key = $1',
      [key],
    )
  )[0]

async function createGroup(key: string, table: string): Promise<void> {
  await session.query('begin')
  await session.query("select tasks.create_group($1, 'tasks', 'done')", [key])
  await session.query(`insert into tasks.${table} (group_key) values ($1), ($1)`, [key])
  await session.query('commit')
}

it('a callback has columns of any name, and leaves out one of a domain that refuses NULL', async () => {
  await session.query("select tasks.create_group('names', 'tasks', 'done', $1)", [{ 'a, b': 'x', 'c"d': 'y' }])
  expect(await group('names')).toEqual({ ended: true, canceled: 0, error: null })
  expect(await rowsOf(session, 'select "a, b" as a, "c""d" as c, n from tasks.done')).toEqual([
    { a: 'x', c: 'y', n: 7 },
  ])
})

it('a refused column is told by create_group', async () => {
  const refusal = await refusalOf(session.query("select tasks.create_group('bad', 'tasks', 'done', '{\"nope\": 1}')"))
  expect(refusal.message).toBe('create_group: tasks.done has no column nope')
})

it('a callback that would be a member of its own group, and keep it from ending, is refused', async () => {
  const create = `select tasks.create_group('round', 'tasks', 'done', '{"group_key": "round"}')`
  const refusal = await refusalOf(session.query(create))
  expect(refusal.code).toBe('TQ003')
  expect(refusal.message).toBe("create_group: the callback of the group 'round' can't be a member of it")
  await session.query(create.replace('"round"', '"another"'))
  expect(await group('round')).toEqual({ ended: true, canceled: 0, error: null })
})

it('TRUNCATE ends the members that it takes away', async () => {
  await createGroup('truncated', 'member')
  await session.query('select tasks.finish_tasks_member(id) from tasks.acquire_tasks_member(1)')
  await session.query('truncate tasks.member')
  expect(await group('truncated')).toEqual({ ended: true, canceled: 1, error: null })
  expect(await scalarOf(session, "select comment from tasks.done where comment like 'group truncated:%'")).toBe(
    'group truncated: 1 finished, 0 failed, 1 canceled',
  )
})

it('a group whose members were in a table that was dropped ends when that is noticed', async () => {
  await createGroup('gone', 'dropped')
  await createGroup('stays', 'member')
  await session.query('drop table tasks.dropped cascade')
  await session.query("select tasks.unregister('tasks', 'nothing')")
  expect(await group('gone')).toMatchObject({ ended: true })
  expect(await group('stays')).toMatchObject({ ended: false })
})
