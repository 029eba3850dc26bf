import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { startTestServer } from '../../support/test-server.js'
import { createTaskType } from './create-task-type.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

const database = await createDatabase()
const session = await database.client()

beforeAll(() => createTaskType(session, 'mail'))

const acquire = async () =>
  (await rowsOf(session, 'select payload from tasks.acquire_tasks_mail(100)')).map((row) => row.payload)

it('is a plain INSERT: every column of the queue has its default', async () => {
  await session.query("insert into tasks.mail (payload) values ('a')")
  expect(
    await rowsOf(
      session,
      `select created_at <= clock_timestamp() as created, planned_to <= clock_timestamp() as due, execution_count, lost_count, priority, canceled, held,
         num_nulls(started_at, finished_at, trace_id, comment, run_token, run_worker, run_until, failed_at, canceled_at, failure_reason, last_error,
           schedule_key, occurrence_at, schedule_trigger, group_key, traceparent) as nulls from tasks.mail`,
    ),
  ).toEqual([
    {
      created: true,
      due: true,
      execution_count: 0,
      lost_count: 0,
      priority: 1,
      canceled: false,
      held: false,
      nulls: 16,
    },
  ])
  expect(await acquire()).toEqual(['a'])
})

it('works by INSERT of many rows, INSERT … SELECT and COPY', async () => {
  await session.query("insert into tasks.mail (payload) values ('a'), ('b')")
  await session.query("insert into tasks.mail (payload) select 'c'")
  await session.query(
    "create temp table source as select 'd'::text as payload; insert into tasks.mail (payload) table source",
  )
  expect(await acquire()).toEqual(['a', 'b', 'c', 'd'])
})

it('has an end to its ids only after 9 quintillion tasks (O-38)', async () => {
  expect(
    await rowsOf(
      session,
      "select format_type(atttypid, null) as type from pg_attribute where attrelid = 'tasks.template'::regclass and attname = 'id'",
    ),
  ).toEqual([{ type: 'bigint' }])
  expect(
    await scalarOf(
      session,
      "select seqmax from pg_sequence where seqrelid = pg_get_serial_sequence('tasks.mail', 'id')::regclass",
    ),
  ).toBe('9223372036854775807')
})

// B-67
it('with ids written by hand gives a plain 23505 once the sequence comes by, and is mended in one line', async () => {
  await session.query('truncate tasks.mail restart identity')
  await session.query("insert into tasks.mail (id, payload) select g, 'by hand' from generate_series(1, 3) g")
  expect((await refusalOf(session.query('insert into tasks.mail default values'))).code).toBe('23505')
  await session.query("select setval(pg_get_serial_sequence('tasks.mail', 'id'), (select max(id) from tasks.mail))")
  expect(await scalarOf(session, 'insert into tasks.mail default values returning id')).toBe('4')
  await session.query('truncate tasks.mail')
})

// O-49, B-17
it('by replication fires no trigger, and is found all the same', async () => {
  const listener = await database.client()
  const heard: string[] = []
  listener.on('notification', (notification) => heard.push(notification.payload ?? ''))
  await listener.query('listen pg_tasks')
  await session.query(
    "set session_replication_role = replica; insert into tasks.mail (payload) values ('replicated'); reset session_replication_role",
  )
  await listener.query('select')
  expect(heard).toEqual([])
  expect(await acquire()).toEqual(['replicated'])
  await listener.end()
})

it('refuses a priority outside of 0 to 3', async () => {
  for (const priority of [-1, 4]) {
    expect(await refusalOf(session.query('insert into tasks.mail (priority) values ($1)', [priority]))).toMatchObject({
      code: '23514',
      constraint: 'pg_tasks_priority',
    })
  }
})

// O-13, B-12
describe('in a prepared transaction', () => {
  it('is refused by PostgreSQL while the type notifies, and works where it does not', async () => {
    const server = await startTestServer({ settings: { max_prepared_transactions: '5' } })
    try {
      const prepared = await createDatabase({ serverUrl: server.url })
      const client = await prepared.client()
      await createTaskType(client, 'loud')
      await createTaskType(client, 'quiet', { settings: 'notify => false' })
      await client.query("begin; insert into tasks.loud (payload) values ('a')")
      expect((await refusalOf(client.query("prepare transaction 'loud'"))).code).toBe('0A000')
      await client.query('rollback')
      await client.query("begin; insert into tasks.quiet (payload) values ('a')")
      await client.query("prepare transaction 'quiet'")
      expect(await rowsOf(client, 'select from tasks.acquire_tasks_quiet(1)')).toEqual([])
      await client.query("commit prepared 'quiet'")
      expect(await rowsOf(client, 'select payload from tasks.acquire_tasks_quiet(1)')).toEqual([{ payload: 'a' }])
      // A finish can be prepared as well; cancel and reset of a running task notify.
      await client.query("begin; select tasks.finish_tasks_quiet(id) from tasks.quiet; prepare transaction 'finish'")
      await client.query("commit prepared 'finish'")
      expect(await scalarOf(client, 'select finished_at is not null from tasks.quiet')).toBe(true)
      await prepared.drop()
    } finally {
      await server.remove()
    }
  })
})
