import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { resolveConnection } from '../../../packages/client/src/connection/connection-source.js'
import { type CreatePoolOptions, createPool } from '../../../packages/client/src/connection/create-pool.js'
import { ReconnectingClient } from '../../../packages/client/src/connection/reconnecting-client.js'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase({ migrations: false })
  await database.pool.query('select')
  proxy = await startProxy(database.url)
})

afterAll(() => proxy.close())

const APPLICATION = 'made pool'

function makePool(url: string, options: Partial<CreatePoolOptions> = {}) {
  const errors: Error[] = []
  const source = resolveConnection('Pool', { connectionString: url })
  const pool = createPool({
    source,
    applicationName: APPLICATION,
    max: 3,
    connectTimeoutMs: 500,
    onError: (error) => errors.push(error),
    ...options,
  })
  onTestFinished(async () => {
    await proxy.pass()
    await pool.end()
  })
  return { pool, errors, source }
}

async function sessions(application = APPLICATION): Promise<number> {
  const { rowCount } = await database.pool.query(
    'select from pg_stat_activity where application_name = $1 and datname = current_database()',
    [application],
  )
  return rowCount ?? 0
}

async function terminate(): Promise<void> {
  await database.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()',
    [APPLICATION],
  )
}

describe('a pool of our own', () => {
  it('survives that its connections are terminated, idle or in use', async () => {
    const { pool, errors } = makePool(database.url)
    const [used, idle] = [await pool.connect(), await pool.connect()]
    idle.release()
    await terminate()
    await waitFor(() => errors.length === 1)
    await expect(used.query('select 1')).rejects.toThrow()
    used.release(true)
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('connects anew after an outage', async () => {
    const { pool } = makePool(proxy.url)
    await pool.query('select 1')
    await proxy.down()
    await expect(pool.query('select 1')).rejects.toThrow()
    await proxy.pass()
    await waitFor(async () => (await pool.query('select 1 as one').catch(() => undefined))?.rows.length)
  })

  it('ends promptly, with connections in use and in a black hole too, and leaves no socket', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length
    const before = sockets()
    for (const breakNetwork of [async () => {}, () => proxy.blackhole()]) {
      const { pool } = makePool(proxy.url)
      const [used, idle] = [await pool.connect(), await pool.connect()]
      idle.release()
      await breakNetwork()
      const start = performance.now()
      await pool.end(100)
      expect(performance.now() - start).toBeLessThan(1_000)
      await expect(used.query('select 1')).rejects.toThrow()
      await proxy.pass()
      await waitFor(() => sockets() <= before)
    }
  })

  it('waits for connections in use as long as it may', async () => {
    const { pool } = makePool(database.url)
    const used = await pool.connect()
    const ended = pool.end(10_000)
    expect((await used.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    used.release()
    await ended
    expect(await sessions()).toBe(0)
  })
})

describe('a connection string', () => {
  it('reaches the same database by URI, by object and by pool, with an encoded password', async () => {
    const role = await database.createRole('encoded')
    const url = new URL(role.url)
    const secret = 'p@ss#w:o/rd%?&= \'"\\'
    await database.pool.query(`alter role "${role.name}" password '${secret.replaceAll("'", "''")}'`)
    url.password = encodeURIComponent(secret)
    const object = {
      host: url.hostname,
      port: Number(url.port),
      user: role.name,
      password: secret,
      database: database.name,
    }
    for (const options of [{ connectionString: url.href }, { connectionConfig: object }, { pool: new Pool(object) }]) {
      const source = resolveConnection('Worker', options)
      const pool = createPool({ source, applicationName: 'both', max: 1 })
      const client = new ReconnectingClient({ source, applicationName: 'both' })
      for (const queryable of [pool, client]) {
        const { rows } = await queryable.query('select current_database() as database, current_user as role')
        expect(rows).toEqual([{ database: database.name, role: role.name }])
      }
      expect(await sessions('both')).toBe(2)
      await Promise.all([pool.end(), client.close()])
      await waitFor(async () => (await sessions('both')) === 0)
    }
  })

  it('keeps the application name that the user gave', async () => {
    const url = new URL(database.url)
    url.searchParams.set('application_name', 'shop')
    const { pool } = makePool(url.href)
    await pool.query('select 1')
    expect([await sessions('shop'), await sessions()]).toEqual([1, 0])
  })

  it('leaves a pool of the user alone', async () => {
    const own = new Pool({ connectionString: database.url })
    const source = resolveConnection('Worker', { pool: own })
    const client = new ReconnectingClient({ source, applicationName: APPLICATION })
    await client.query('select 1')
    await client.close()
    expect((await own.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await own.end()
  })
})
