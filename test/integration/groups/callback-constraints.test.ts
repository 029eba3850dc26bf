import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

// Whatever its callback meets, the last member ends.
const database = await createDatabase()
const session = await database.client()

beforeAll(async () => {
  await session.query('create table public.albums (id integer primary key)')
  await createTaskType(session, 'member')
  await createTaskType(session, 'tidy', {
    columns: 'album integer references public.albums deferrable initially deferred',
  })
  await createTaskType(session, 'rebuild', { columns: 'shop integer' })
  await createTaskType(session, 'single', { columns: 'shop integer' })
  await session.query(`
    select tasks.use_groups('tasks', 'member');
    select tasks.unique_while('tasks', 'rebuild', '{shop}');
    select tasks.unique_while('tasks', 'single', '{shop}', '{scheduled,ready,running}')`)
})

async function endGroup(key: string, callback: string, columns: object): Promise<void> {
  await session.query('begin')
  await session.query("select tasks.create_group($1, 'tasks', $2, $3)", [key, callback, columns])
  await session.query('insert into tasks.member (group_key) values ($1)', [key])
  await session.query('commit')
  const id = await scalarOf(session, 'select id from tasks.acquire_tasks_member(1)')
  await session.query('select tasks.finish_tasks_member($1)', [id])
  expect(await scalarOf(session, 'select finished_at is not null from tasks.member where id = $1', [id])).toBe(true)
}

const group = async (key: string) =>
  (
    await rowsOf(
      session,
      'select ended_at is not null as ended, callback_id is not null as callback, error from tasks.groups where key = $1',
      [key],
    )
  )[0]

it('a constraint that is checked at COMMIT, and no member fails with it', async () => {
  await endGroup('no album', 'tidy', { album: 1 })
  expect(await group('no album')).toEqual({ ended: false, callback: false, error: expect.stringContaining('album') })
  await session.query("insert into public.albums values (1); select tasks.end_group('no album')")
  expect(await group('no album')).toEqual({ ended: true, callback: true, error: null })
  await endGroup('album', 'tidy', { album: 1 })
  expect(await group('album')).toEqual({ ended: true, callback: true, error: null })
})

it('its like, which waits and comes after the members too', async () => {
  await endGroup('first', 'rebuild', { shop: 1 })
  await endGroup('second', 'rebuild', { shop: 1 })
  expect(await group('first')).toEqual({ ended: true, callback: true, error: null })
  expect(await group('second')).toEqual({ ended: true, callback: false, error: null })
  await session.query('select tasks.acquire_tasks_rebuild(1)')
  await endGroup('third', 'rebuild', { shop: 1 })
  expect(await group('third')).toEqual({ ended: true, callback: true, error: null })
})

it('its like, which may be running already: the group says so', async () => {
  await endGroup('one', 'single', { shop: 1 })
  await session.query('select tasks.acquire_tasks_single(1)')
  await endGroup('two', 'single', { shop: 1 })
  expect(await group('two')).toEqual({ ended: false, callback: false, error: expect.stringContaining('unique') })
})
