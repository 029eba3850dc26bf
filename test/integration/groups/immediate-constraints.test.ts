import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf } from '../sql/rows-of.js'

// SET CONSTRAINTS ALL IMMEDIATE is meant for the user's own constraints; when a group ends is no matter of it.
const database = await createDatabase()
const client = await database.client()

beforeAll(async () => {
  await createTaskType(client, 'publish')
  await createTaskType(client, 'resize')
  await client.query("select tasks.use_groups('tasks', 'resize')")
})

beforeEach(async () => {
  await client.query('truncate tasks.groups, tasks.resize, tasks.publish')
})

const groups = () =>
  rowsOf(
    client,
    'select finished::int, ended_at is not null as ended, callback_id is not null as called from tasks.groups',
  )

describe('in a transaction whose constraints are immediate', () => {
  it('a group that is created gets its members before it can end', async () => {
    await client.query('begin; set constraints all immediate')
    await client.query("select tasks.create_group('album', 'tasks', 'publish')")
    await client.query("insert into tasks.resize (group_key) values ('album')")
    await client.query('commit')
    expect(await groups()).toEqual([{ finished: 0, ended: false, called: false }])
    await client.query('select tasks.finish_tasks_resize(id) from tasks.acquire_tasks_resize(1)')
    expect(await groups()).toEqual([{ finished: 1, ended: true, called: true }])
  })

  it('a member that ends may enqueue the next one', async () => {
    await client.query("begin; select tasks.create_group('album', 'tasks', 'publish')")
    await client.query("insert into tasks.resize (group_key) values ('album'); commit")
    await client.query('begin; set constraints all immediate')
    await client.query('select tasks.finish_tasks_resize(id) from tasks.acquire_tasks_resize(1)')
    await client.query("insert into tasks.resize (group_key) values ('album')")
    await client.query('commit')
    expect(await groups()).toEqual([{ finished: 1, ended: false, called: false }])
  })

  it('a group ends at once where they are made so at last', async () => {
    await client.query("begin; select tasks.create_group('album', 'tasks', 'publish')")
    await client.query('set constraints all immediate')
    expect(await groups()).toEqual([{ finished: 0, ended: true, called: true }])
    await client.query('commit')
  })
})
