import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestedMajor } from '../../support/postgres-major.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { createTaskType } from '../sql/create-task-type.js'
import { scalarOf } from '../sql/rows-of.js'

/** The smallest notification queue there can be; before PostgreSQL 17 it is always 8 GB. */
const PAGES = 64

describe.skipIf(requestedMajor() < 17)('While the notification queue is half full', () => {
  let server: TestServer
  let database: TestDatabase
  let client: Client
  beforeAll(async () => {
    server = await startTestServer({ settings: { max_notify_queue_pages: String(PAGES) } })
    database = await createDatabase({ serverUrl: server.url })
    client = await database.client()
    await createTaskType(database.pool, 'queued')
  })
  afterAll(async () => {
    await database.drop()
    await server.remove()
  })

  it('enqueuers notify nobody, so that their commits never fail', async () => {
    const listener = await database.client()
    const heard: string[] = []
    listener.on('notification', ({ payload = '' }) => heard.push(payload))
    await listener.query('listen pg_tasks')
    // Whoever stays in a transaction keeps what the others notify in the queue.
    await listener.query('begin')
    await client.query('insert into tasks.queued default values')
    for (let page = 0; (await scalarOf<number>(client, 'select pg_notification_queue_usage()')) < 0.5; page += 1) {
      if (page > PAGES) throw new Error('The queue does not fill.')
      await client.query(`select pg_notify('else', repeat('x', 7000) || $1)`, [page])
    }
    await client.query('insert into tasks.queued default values')
    await listener.query('commit')
    await listener.query('select 1')
    expect(heard).toEqual(['tasks.queued'])
    expect(await scalarOf(client, 'select count(*)::int from tasks.acquire_tasks_queued(10)')).toBe(2)
  })
})
