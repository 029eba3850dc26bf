import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

// FOR ALL TABLES: a move to another server by logical replication, or change data capture. PostgreSQL then refuses to update or
// delete rows of a table that has no replica identity.
const database = await createDatabase()
const client = await database.client()

beforeAll(async () => {
  await createTaskType(client, 'done', { settings: "storage_time => '0'" })
  await createTaskType(client, 'sent', {
    columns: 'customer integer',
    settings: "max_retries => 0, storage_time => '1 hour'",
  })
  await client.query(`
    select tasks.limit_concurrency('tasks', 'sent', 10), tasks.limit_rate('tasks', 'sent', 1000, '1 s', 100),
      tasks.limit_keys('tasks', 'sent', '{customer}'), tasks.unique_while('tasks', 'sent', '{customer}'),
      tasks.use_groups('tasks', 'sent'), tasks.set_on_failure('tasks', 'sent', 'tasks.done');
    create publication everything for all tables`)
})

it('a database whose tables are all published runs, forgets and maintains its tasks', async () => {
  await client.query("select tasks.keep_history('tasks', 'sent', '1 day')")
  await client.query(`begin; select tasks.create_group('all', 'tasks', 'done');
    insert into tasks.sent (customer, group_key) values (1, 'all'), (2, 'all'), (3, 'all'); commit`)
  expect(await rowsOf(client, 'select id from tasks.acquire_tasks_sent(10)')).toHaveLength(3)
  await client.query('select tasks.finish_tasks_sent(1), tasks.retry_tasks_sent(2), tasks.cancel_tasks_sent(3)')
  await client.query('select tasks.finish_tasks_done(id) from tasks.acquire_tasks_done(10)')
  expect(await scalarOf(client, 'select ended_at is not null from tasks.groups')).toBe(true)

  // A day for which nobody made a partition.
  await moveClock(client, '20 days')
  await client.query('insert into tasks.sent (customer) values (4); select tasks.acquire_tasks_sent(1)')
  await client.query('select tasks.finish_tasks_sent(4)')
  await client.query('delete from tasks.attempts where task_id = 2')
  await moveClock(client, '40 days')
  expect(await rowsOf(client, 'select what, deleted::int from tasks.maintain() order by 1')).toEqual([
    { what: 'tasks.attempts', deleted: 8 },
    { what: 'tasks.sent', deleted: 4 },
  ])
  expect(await scalarOf(client, 'select count(*) from tasks.attempts')).toBe('0')
})
