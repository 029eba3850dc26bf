import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { createTaskType } from '../sql/create-task-type.js'

let server: TestServer
let database: TestDatabase
let client: Client
beforeAll(async () => {
  server = await startTestServer({ settings: { max_prepared_transactions: '5' } })
  database = await createDatabase({ serverUrl: server.url })
  client = await database.client()
  await createTaskType(database.pool, 'loud')
  await createTaskType(database.pool, 'silent', { settings: 'notify => false' })
})
afterAll(async () => {
  await database.drop()
  await server.remove()
})

describe('A two-phase transaction that enqueues', () => {
  it('cannot be prepared where it notifies', async () => {
    await client.query('begin')
    await client.query(`insert into tasks.loud (payload) values ('a')`)
    await expect(client.query(`prepare transaction 'loud'`)).rejects.toMatchObject({ code: '0A000' })
    const { rows } = await client.query('select from tasks.loud')
    expect(rows).toHaveLength(0)
  })

  it('can be prepared where the type is registered without notifications, and its task is found', async () => {
    await client.query('begin')
    await client.query(`insert into tasks.silent (payload) values ('a')`)
    await client.query(`prepare transaction 'silent'`)
    const acquire = `select payload from tasks.acquire_tasks_silent(10)`
    expect((await client.query(acquire)).rows).toEqual([])
    await client.query(`commit prepared 'silent'`)
    expect((await client.query(acquire)).rows).toEqual([{ payload: 'a' }])
  })

  it('is in flight while it stands, also for a worker that came later', async () => {
    const worker = await database.client()
    const quiet = async () =>
      (await worker.query(`select tasks.nothing_in_flight('tasks.loud'::regclass::oid) as quiet`)).rows[0].quiet
    await worker.query(`select tasks.stay_awake('tasks.loud'::regclass::oid)`)
    await client.query('begin')
    await client.query(`insert into tasks.loud (payload) values ('b')`)
    // Nobody has to be told, so nothing was notified.
    await client.query(`prepare transaction 'quiet'`)
    expect(await quiet()).toBe(false)
    await client.query(`commit prepared 'quiet'`)
    expect(await quiet()).toBe(true)
  })
})

describe('A two-phase transaction that ends tasks of a type without notifications', () => {
  it.each([
    ['limit_concurrency', "select tasks.limit_concurrency('tasks', 'ending', 1)"],
    ['limit_keys', "select tasks.limit_keys('tasks', 'ending', '{payload}')"],
  ])('can be prepared with %s, and makes room when it is committed', async (feature, limit) => {
    await createTaskType(database.pool, 'ending', { settings: 'notify => false' })
    await client.query(limit)
    await client.query("insert into tasks.ending (payload) values ('a'), ('a')")
    const acquire = 'select id from tasks.acquire_tasks_ending(1)'
    const { rows } = await client.query(acquire)
    expect(rows).toHaveLength(1)
    await client.query('begin')
    await client.query('select tasks.finish_tasks_ending($1)', [rows[0].id])
    await client.query(`prepare transaction '${feature}'`)
    expect((await client.query(acquire)).rows).toEqual([])
    await client.query(`commit prepared '${feature}'`)
    expect((await client.query(acquire)).rows).toHaveLength(1)
    await client.query('drop table tasks.ending cascade')
  })
})
