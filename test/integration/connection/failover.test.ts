import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resolveConnection } from '../../../packages/client/src/connection/connection-source.js'
import { createPool } from '../../../packages/client/src/connection/create-pool.js'
import { ReconnectingClient } from '../../../packages/client/src/connection/reconnecting-client.js'
import { Listener } from '../../../packages/client/src/listener/listener.js'
import { databaseUrl } from '../../support/names.js'
import { type Replica, startReplica } from '../../support/replica.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { waitFor } from '../../support/wait-for.js'

let primary: TestServer
let replica: Replica
let database: TestDatabase
let replicaUrl: string

beforeAll(async () => {
  primary = await startTestServer()
  database = await createDatabase({ migrations: false, serverUrl: primary.url })
  await database.pool.query('create table written (n int)')
  replica = await startReplica(primary)
  await replica.catchUp()
  replicaUrl = databaseUrl(replica.url, database.name)
})

afterAll(async () => {
  await primary.restart()
  await database.drop()
  await Promise.all([replica.remove(), primary.remove()])
})

const MILLISECONDS = { connectTimeoutMs: 1_000, statementTimeoutMs: 1_000, backoff: { baseMs: 20, maxMs: 100 } }

describe('a standby', () => {
  it('is not taken for the server, and said to be one', async () => {
    const source = resolveConnection('Worker', { connectionString: replicaUrl })
    const client = new ReconnectingClient({ source, applicationName: 'failover', ...MILLISECONDS })
    const refusal = { code: 'READ_ONLY_SERVER', server: `127.0.0.1:${replica.port}` }
    await expect(client.query('select 1')).rejects.toMatchObject(refusal)
    expect(client.session).toBe(0)
    const pool = createPool({ source, applicationName: 'failover', max: 1 })
    await expect(pool.query('select 1')).rejects.toMatchObject(refusal)
    await Promise.all([client.close(), pool.end()])
  })
})

describe('a role that may only read', () => {
  it('leads to another of several addresses', async () => {
    const reader = await database.createRole('reader')
    const writer = await database.createRole('writer')
    await database.pool.query(`alter role ${reader.name} set default_transaction_read_only = on`)
    const source = resolveConnection('Worker', { connectionString: [reader.url, writer.url] })
    const client = new ReconnectingClient({ source, applicationName: 'failover', ...MILLISECONDS })
    expect((await client.query('select current_user as role')).rows).toEqual([{ role: writer.name }])
    // A session that turns out to be read-only is left at the first refusal.
    await client.query('set default_transaction_read_only = on')
    await expect(client.query('create table refused ()')).rejects.toMatchObject({ code: '25006' })
    const setting = await client.query('show default_transaction_read_only')
    expect([setting.rows, client.session]).toEqual([[{ default_transaction_read_only: 'off' }], 2])
    await client.close()
  })
})

describe('client, pool and listener with the addresses of primary and standby', () => {
  it('follow a failover together', async () => {
    const source = resolveConnection('Worker', { connectionString: [replicaUrl, database.url] })
    const client = new ReconnectingClient({ source, applicationName: 'failover', ...MILLISECONDS })
    const pool = createPool({ source, applicationName: 'failover', max: 2, connectTimeoutMs: 1_000 })
    const heard: string[] = []
    const listener = new Listener({
      source,
      channels: ['pg_tasks'],
      applicationName: 'failover',
      onNotification: (_, payload) => heard.push(payload),
      pingIntervalMs: 200,
      pingTimeoutMs: 1_000,
      connectTimeoutMs: 1_000,
      backoff: { baseMs: 20, maxMs: 100 },
    })
    const write = (n: number) => client.query('insert into written values ($1)', [n])
    const notify = (n: number) => pool.query("select pg_notify('pg_tasks', $1)", [String(n)])

    expect(await listener.start()).toBe(true)
    await write(1)
    await notify(1)
    await waitFor(() => heard.includes('1'))
    expect([client.server, listener.status.server]).toEqual([`127.0.0.1:${primary.port}`, `127.0.0.1:${primary.port}`])

    await replica.catchUp()
    primary.kill()
    await waitFor(() => !listener.status.listening)
    await expect(write(2)).rejects.toThrow()
    await replica.promote()

    await waitFor(() => listener.status.listening)
    await waitFor(() => write(3).then(Boolean, () => false))
    await waitFor(() => notify(3).then(Boolean, () => false))
    await waitFor(() => heard.includes('3'))
    expect([client.server, listener.status.server]).toEqual([`127.0.0.1:${replica.port}`, `127.0.0.1:${replica.port}`])
    await Promise.all([client.close(), pool.end(), listener.close()])
  })
})
