import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor, waitForEvent, within } from '../../support/wait-for.js'

const database = await createDatabase({ migrations: false })
let proxy: TestProxy

beforeEach(async () => {
  proxy = await startProxy(database.url)
})

afterEach(() => proxy.close())

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: proxy.url, connectionTimeoutMillis: 500, query_timeout: 500 })
  client.on('error', () => {})
  await client.connect()
  return client
}

const rowCount = async () => (await database.pool.query('select from cut_rows')).rowCount

describe('the proxy', () => {
  it('forwards both ways and counts', async () => {
    const client = await connect()
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    expect(proxy.counters).toMatchObject({ accepted: 1, open: 1 })
    expect(proxy.counters.bytesUp).toBeGreaterThan(0)
    expect(proxy.counters.bytesDown).toBeGreaterThan(0)
    await client.end()
    await waitFor(() => proxy.counters.open === 0)
  })

  it('swallows everything in a black hole, and resets what has lost bytes afterwards', async () => {
    const client = await connect()
    await proxy.blackhole()
    await expect(client.query('select 1')).rejects.toThrow(/timeout/i)
    await expect(connect()).rejects.toThrow(/timeout/i)
    const ended = waitForEvent(client, 'end')
    await proxy.pass()
    await ended
    await (await connect()).end()
  })

  it('delivers what it held', async () => {
    const client = await connect()
    await proxy.hold()
    const answer = client.query('select 1 as one')
    await waitFor(() => proxy.counters.bytesUp > 0)
    await proxy.pass()
    expect((await answer).rows).toEqual([{ one: 1 }])
    await client.end()
  })

  it('delays, and keeps the order when the delay ends', async () => {
    const client = await connect()
    await proxy.delay(50)
    const begun = performance.now()
    await client.query('select 1')
    expect(performance.now() - begun).toBeGreaterThan(90)
    const answers = [client.query('select 1 as n'), client.query('select 2 as n')]
    await proxy.pass()
    expect((await Promise.all(answers)).map(({ rows }) => rows[0].n)).toEqual([1, 2])
    await client.end()
  })

  it('resets open and new connections', async () => {
    const client = await connect()
    const ended = waitForEvent(client, 'end')
    await proxy.reset()
    await ended
    await expect(connect()).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it('refuses new connections, keeps open ones, and listens again on the same port', async () => {
    const client = await connect()
    const { port } = proxy
    await proxy.refuse()
    await expect(connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await client.query('select 1')
    await proxy.down()
    await expect(client.query('select 1')).rejects.toThrow()
    await proxy.pass()
    expect(proxy.port).toBe(port)
    await (await connect()).end()
  })

  it('cuts after a number of bytes', async () => {
    const client = await connect()
    const ended = waitForEvent(client, 'end')
    const cut = proxy.cutAfter(10_000, 'down')
    await expect(client.query("select repeat('x', 100000)")).rejects.toThrow()
    await within(Promise.all([cut, ended]))
  })

  it.each([
    { deliver: false, rows: 0 },
    { deliver: true, rows: 1 },
  ])('cuts at a commit that is delivered: $deliver', async ({ deliver, rows }) => {
    await database.pool.query('drop table if exists cut_rows; create table cut_rows ()')
    const client = await connect()
    const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
    await client.query('begin; insert into cut_rows default values')
    const cut = proxy.cutWhen((data, direction) => direction === 'up' && data.includes('COMMIT'), { deliver })
    await expect(client.query('COMMIT')).rejects.toThrow()
    await within(cut)
    await waitFor(
      async () => (await database.pool.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 0,
    )
    expect(await rowCount()).toBe(rows)
    await (await connect()).end()
  })
})
