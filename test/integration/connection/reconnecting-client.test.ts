import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { resolveConnection } from '../../../packages/client/src/connection/connection-source.js'
import {
  ReconnectingClient,
  type ReconnectingClientOptions,
} from '../../../packages/client/src/connection/reconnecting-client.js'
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

const APPLICATION = 'reconnecting'

function connectTo(url: string | readonly string[], options: Partial<ReconnectingClientOptions> = {}) {
  const reasons: Error[] = []
  const client = new ReconnectingClient({
    source: resolveConnection('Client', { connectionString: url }),
    applicationName: APPLICATION,
    connectTimeoutMs: 500,
    statementTimeoutMs: 500,
    backoff: { baseMs: 20, maxMs: 100 },
    onDisconnect: (reason) => reasons.push(reason),
    ...options,
  })
  onTestFinished(async () => {
    await proxy.pass()
    await client.close()
  })
  return { client, reasons }
}

async function sessions(): Promise<number> {
  const { rowCount } = await database.pool.query(
    'select from pg_stat_activity where application_name = $1 and datname = current_database()',
    [APPLICATION],
  )
  return rowCount ?? 0
}

async function terminate(): Promise<void> {
  await database.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()',
    [APPLICATION],
  )
}

function sockets(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length
}

describe('a reconnecting client', () => {
  it('connects when it is first asked, and gives rows', async () => {
    const { client } = connectTo(database.url)
    expect(client).toMatchObject({ connected: false, session: 0, server: undefined })
    const { rows, rowCount } = await client.query('select $1::int + 1 as sum', [41])
    expect([rows, rowCount]).toEqual([[{ sum: 42 }], 1])
    expect(client).toMatchObject({ connected: true, session: 1, server: expect.stringMatching(/^127\.0\.0\.1:\d+$/) })
    expect(await sessions()).toBe(1)
  })

  it('runs one statement at a time, in order, also those that nobody awaits', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    const { client } = connectTo(database.url)
    await client.query('create temporary table seen (n int, at timestamptz default clock_timestamp())')
    const insert = (n: number) => client.query('insert into seen select $1 from pg_sleep(0.01)', [n])
    const all = [1, 2, 3].map(insert)
    const used = client.use(async (session) => {
      for (const n of [4, 5, 6]) void session.query('insert into seen select $1 from pg_sleep(0.01)', [n])
    })
    const after = insert(7)
    await Promise.all([...all, used, after])
    const { rows } = await client.query('select array_agg(n order by at) as n from seen')
    expect(rows[0].n).toEqual([1, 2, 3, 4, 5, 6, 7])
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it("passes the database's refusals on as they are, and goes on with the same session", async () => {
    const { client, reasons } = connectTo(database.url)
    await expect(client.query('select * from missing')).rejects.toMatchObject({ code: '42P01' })
    await expect(client.query('select 1/0')).rejects.toMatchObject({ code: '22012' })
    await client.query('select 1')
    expect([client.session, reasons]).toEqual([1, []])
  })

  it('replaces a session that was terminated while idle, and says so once', async () => {
    const { client, reasons } = connectTo(database.url)
    await client.connect()
    await terminate()
    await waitFor(() => reasons.length === 1)
    expect(client.connected).toBe(false)
    await client.query('select 1')
    expect([client.session, reasons.length]).toEqual([2, 1])
    await waitFor(async () => (await sessions()) === 1)
  })

  it('rejects the statement whose session is terminated, as one that may have run', async () => {
    const { client, reasons } = connectTo(database.url, { statementTimeoutMs: 10_000 })
    await client.connect()
    const sleeping = client.query('select pg_sleep(10)')
    const failed = expect(sleeping).rejects.toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: true })
    await waitFor(async () => {
      await terminate()
      return reasons.length > 0
    })
    await failed
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('prepares every session before anybody uses it', async () => {
    const { client, reasons } = connectTo(database.url, {
      onConnect: async (session) => {
        await session.query("set lock_timeout = '123ms'")
      },
    })
    for (let session = 1; session <= 3; session++) {
      expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '123ms' }])
      expect(client.session).toBe(session)
      await terminate()
      await waitFor(() => reasons.length === session)
    }
  })

  it('throws away a session that could not be prepared', async () => {
    let broken = true
    const { client, reasons } = connectTo(database.url, {
      onConnect: async (session) => {
        if (broken) await session.query('select broken')
      },
    })
    await expect(client.query('select 1')).rejects.toMatchObject({ code: '42703' })
    expect(client).toMatchObject({ connected: false, session: 0 })
    await waitFor(async () => (await sessions()) === 0)
    broken = false
    await client.query('select 1')
    expect([client.session, reasons]).toEqual([1, []])
  })

  it('throws away a session that is left inside a transaction', async () => {
    const { client, reasons } = connectTo(database.url)
    await database.pool.query('create table if not exists kept (n int)')
    await client.use(async (session) => {
      await session.query('begin')
      await session.query('insert into kept values (1)')
    })
    expect(reasons.map((reason) => reason.message)).toEqual(['A transaction was left open'])
    expect((await client.query('select * from kept')).rows).toEqual([])
    await client.use(async (session) => {
      await session.query('begin')
      await session.query('insert into kept values (2)')
      await session.query('commit')
    })
    expect((await client.query('select * from kept')).rows).toEqual([{ n: 2 }])
    expect(client.session).toBe(2)
  })

  it('does not let a statement in after its turn', async () => {
    const { client } = connectTo(database.url)
    let leaked: { query(text: string): Promise<unknown> } | undefined
    await client.use(async (session) => {
      leaked = session
    })
    await expect(leaked?.query('select 1')).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('a reconnecting client without a server', () => {
  it('gives a statement up after its deadline, in a black hole too, and connects anew', async () => {
    const { client, reasons } = connectTo(proxy.url, { statementTimeoutMs: 10_000 })
    await client.connect()
    await proxy.blackhole()
    const start = performance.now()
    await expect(client.query('select 1', [], { deadlineMs: 200 })).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      mayHaveRun: true,
      message: expect.stringContaining('No answer within 200 ms'),
    })
    expect(performance.now() - start).toBeLessThan(600)
    expect(reasons).toHaveLength(1)
    await expect(client.query('select 1')).rejects.toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: false })
    await proxy.pass()
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('cancels a statement that it gives up, so that nothing runs on in the server', async () => {
    const { client } = connectTo(database.url)
    const slow = client.query("select 'given up', pg_sleep(60)", [], { deadlineMs: 100 })
    await expect(slow).rejects.toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: true })
    await waitFor(async () => (await sessions()) === 0)
  })

  it('takes no late answer for that of the next statement', async () => {
    const { client } = connectTo(proxy.url)
    await client.connect()
    await proxy.hold()
    const late = expect(client.query("select 'late' as what", [], { deadlineMs: 50 })).rejects.toThrow('No answer')
    const next = client.query("select 'next' as what")
    await late
    await proxy.pass()
    expect((await next).rows).toEqual([{ what: 'next' }])
  })

  it('rejects within the time for connecting, backs off, and comes back by itself', async () => {
    const { client } = connectTo(proxy.url, { backoff: { baseMs: 100, maxMs: 200, jitter: 0 } })
    await proxy.reset()
    const { accepted } = proxy.counters
    const start = performance.now()
    while (performance.now() - start < 1_000) {
      await expect(client.query('select 1')).rejects.toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: false })
    }
    expect(proxy.counters.accepted - accepted).toBeLessThanOrEqual(8)
    await proxy.pass()
    await client.query('select 1')
  })

  it('does not hammer a server that lets it in and cuts it off', async () => {
    const { client } = connectTo(database.url, {
      backoff: { baseMs: 100, maxMs: 200, jitter: 0 },
    })
    const start = performance.now()
    while (performance.now() - start < 1_000) {
      await expect(client.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow()
    }
    expect(client.session).toBeGreaterThan(2)
    expect(client.session).toBeLessThanOrEqual(9)
  })

  it('names no password in what it throws', async () => {
    const url = new URL(database.url)
    url.password = 'hunter2'
    const { client } = connectTo(url.href)
    const { inspect } = await import('node:util')
    const error = await client.query('select 1').catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'CONNECTION_LOST',
      message: expect.stringContaining('password authentication failed'),
    })
    expect(`${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)}`).not.toContain('hunter2')
  })
})

describe('closing a reconnecting client', () => {
  const states = {
    'that never connected': async () => connectTo(database.url),
    'that is idle': async () => {
      const made = connectTo(database.url)
      await made.client.connect()
      return made
    },
    'that runs a long statement': async () => {
      const made = connectTo(database.url, { statementTimeoutMs: 60_000 })
      made.client.query('select pg_sleep(60)').catch(() => {})
      await waitFor(
        async () =>
          (await database.pool.query("select from pg_stat_activity where query like 'select pg_sleep(60)'"))
            .rowCount === 1,
      )
      return made
    },
    'that waits for an answer in a black hole': async () => {
      const made = connectTo(proxy.url, { statementTimeoutMs: 60_000 })
      await made.client.connect()
      await proxy.blackhole()
      made.client.query('select 1').catch(() => {})
      return made
    },
    'that connects to a black hole': async () => {
      const made = connectTo(proxy.url, { connectTimeoutMs: 60_000 })
      await proxy.blackhole()
      const { accepted } = proxy.counters
      made.client.query('select 1').catch(() => {})
      await waitFor(() => proxy.counters.accepted > accepted)
      return made
    },
    'that waits for the next attempt': async () => {
      await proxy.down()
      const made = connectTo(proxy.url, { backoff: { baseMs: 60_000, maxMs: 60_000 } })
      await expect(made.client.query('select 1')).rejects.toThrow()
      made.client.query('select 1').catch(() => {})
      return made
    },
    'whose server holds its goodbye back': async () => {
      const made = connectTo(proxy.url)
      await made.client.connect()
      await proxy.hold()
      return made
    },
  }

  it.each(Object.entries(states))(
    '%s ends promptly, rejects what waits, and leaves nothing',
    async (name, makeState) => {
      const before = sockets()
      const { client } = await makeState()
      const waiting = client.query('select 2').catch((error: unknown) => error)
      const start = performance.now()
      await client.close()
      // A running statement has a second; connecting and waiting end at once.
      expect(performance.now() - start).toBeLessThan(/connects|next attempt/.test(name) ? 500 : 2_000)
      const outcome = await waiting
      if (!('rows' in (outcome as object)))
        expect(outcome).toMatchObject({ code: expect.stringMatching(/CLOSED|CONNECTION_LOST/) })
      await expect(client.query('select 3')).rejects.toMatchObject({ code: 'CLOSED' })
      await proxy.pass()
      await waitFor(() => sockets() <= before)
      await client.close()
    },
  )

  it('lets a statement end that is about to', async () => {
    const { client } = connectTo(database.url)
    await client.connect()
    const last = client.query("select 'done' as what from pg_sleep(0.2)")
    await waitFor(
      async () =>
        (
          await database.pool.query(
            "select from pg_stat_activity where query like '%pg_sleep(0.2)' and state = 'active' and application_name = $1",
            [APPLICATION],
          )
        ).rowCount === 1,
    )
    await client.close()
    expect((await last).rows).toEqual([{ what: 'done' }])
  })
})
