import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startProxy } from '../../support/proxy.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { type PgBouncer, type PgBouncerOptions, pgbouncerMissing, startPgBouncer } from './pgbouncer.js'
import { recordListener } from './record-listener.js'

// To run them: apt-get install pgbouncer, or what your system has.
describe.skipIf(pgbouncerMissing)(
  `a listener behind pgbouncer${pgbouncerMissing ? `: ${pgbouncerMissing}` : ''}`,
  () => {
    let database: TestDatabase
    const bouncers: PgBouncer[] = []

    beforeAll(async () => {
      database = await createDatabase({ migrations: false })
    })

    afterEach(() => stopAll())
    afterAll(() => stopAll())

    async function stopAll(): Promise<void> {
      await Promise.all(bouncers.splice(0).map((bouncer) => bouncer.stop()))
    }

    async function start(options: PgBouncerOptions): Promise<PgBouncer> {
      const bouncer = await startPgBouncer(database.url, options)
      bouncers.push(bouncer)
      return bouncer
    }

    it('in transaction mode says once that nothing arrives, and goes on trying', async () => {
      const proxy = await startProxy((await start({ poolMode: 'transaction' })).url)
      const recorded = recordListener(proxy.url, { pingTimeoutMs: 100, notDeliveringRetryMs: 20 })
      expect(await recorded.started).toBe(false)
      expect(recorded.listener.status).toMatchObject({ state: 'not_delivering', listening: false })
      // Many attempts later, it has said no more.
      const { accepted } = proxy.counters
      await waitFor(() => proxy.counters.accepted > accepted + 20, { timeoutMs: 10_000 })
      expect(recorded).toMatchObject({ ups: 0, downs: 1 })
      expect(recorded.reasons).toEqual([expect.objectContaining({ code: 'NOT_DELIVERING' })])
      const logged = recorded.lines.filter((line) => line.level !== 'debug')
      expect(logged).toHaveLength(1)
      expect(logged[0]?.fields.reason).toMatch(/don't arrive through 127\.0\.0\.1:\d+ .* direct connection/)
      await proxy.close()
    })

    it('in transaction mode leaves no LISTEN behind on the pooled session', async () => {
      const { url } = await start({ poolMode: 'transaction', poolSize: 1 })
      const recorded = recordListener(url, { pingTimeoutMs: 50, notDeliveringRetryMs: 60_000 })
      expect(await recorded.started).toBe(false)
      const client = new Client({ connectionString: url })
      await client.connect()
      await waitFor(async () => (await client.query('select pg_listening_channels()')).rowCount === 0)
      await client.end()
    })

    it('in session mode hears as on a direct connection', async () => {
      const { url } = await start({ poolMode: 'session' })
      const recorded = recordListener(url)
      expect(await recorded.started).toBe(true)
      await database.pool.query("notify pg_tasks, 'x'")
      await waitFor(() => recorded.heard.includes('pg_tasks:x'))
      await recorded.listener.close()
    })

    it('hears as soon as the pooler lets notifications through', async () => {
      const { url, port } = await start({ poolMode: 'transaction' })
      const recorded = recordListener(url, { pingTimeoutMs: 100, notDeliveringRetryMs: 20 })
      expect(await recorded.started).toBe(false)
      await stopAll()
      await start({ poolMode: 'session', port })
      await waitFor(() => recorded.ups === 1)
      await database.pool.query("notify pg_tasks, 'x'")
      await waitFor(() => recorded.heard.includes('pg_tasks:x'))
      expect(recorded.downs).toBe(1)
      await recorded.listener.close()
    })
  },
)
