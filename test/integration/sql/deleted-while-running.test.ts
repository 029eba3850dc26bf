import { beforeAll, beforeEach, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { rowsOf, scalarOf } from './rows-of.js'

// A type that deletes at finish: a row that somebody else deletes is gone in the same way, and has not been done.
const database = await createDatabase()
const client = await database.client()

beforeAll(async () => {
  await createTaskType(client, 'publish')
  await createTaskType(client, 'resize', { settings: "storage_time => '0'" })
  await client.query("select tasks.use_groups('tasks', 'resize'), tasks.keep_history('tasks', 'resize')")
})

let runs: Array<{ id: string; token: string }>

beforeEach(async () => {
  await client.query('truncate tasks.groups, tasks.attempts, tasks.resize')
  await client.query("begin; select tasks.create_group('album', 'tasks', 'publish', policy => 'all_finished')")
  await client.query("insert into tasks.resize (group_key) values ('album'), ('album'), ('album'), ('album'); commit")
  runs = await rowsOf(client, 'select id, run_token as token from tasks.acquire_tasks_resize(10)')
})

const outcomes = () =>
  rowsOf(client, 'select outcome, count(*)::int from tasks.attempts group by outcome order by outcome')

it('deleted running tasks of a type that deletes at finish count as canceled, finished ones as finished', async () => {
  await client.query('select tasks.finish_tasks_resize($1)', [runs[0]?.id])
  await client.query('select * from tasks.finish_many_tasks_resize($1, $2)', [[runs[1]?.id], [runs[1]?.token]])
  // One that can't be finished makes it look at each.
  await client.query('select * from tasks.finish_many_tasks_resize($1, $2)', [
    [runs[2]?.id, '4711'],
    [runs[2]?.token, runs[2]?.token],
  ])
  await client.query('delete from tasks.resize')
  expect(await outcomes()).toEqual([
    { outcome: 'canceled', count: 1 },
    { outcome: 'finished', count: 3 },
  ])
  expect(
    await rowsOf(
      client,
      'select finished::int, canceled::int, ended_at is not null as ended, callback_id from tasks.groups',
    ),
  ).toEqual([{ finished: 3, canceled: 1, ended: true, callback_id: null }])
})

it('so do those that are deleted in the transaction of a finish', async () => {
  await client.query('begin')
  await client.query('select tasks.finish_tasks_resize($1)', [runs[0]?.id])
  await client.query('select * from tasks.finish_many_tasks_resize($1, $2)', [[runs[1]?.id], [runs[1]?.token]])
  await client.query('delete from tasks.resize; commit')
  expect(await outcomes()).toEqual([
    { outcome: 'canceled', count: 2 },
    { outcome: 'finished', count: 2 },
  ])
  expect(await scalarOf(client, 'select canceled::int from tasks.groups')).toBe(2)
})
