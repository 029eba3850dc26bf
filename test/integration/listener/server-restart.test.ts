import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { waitFor } from '../../support/wait-for.js'
import { recordListener } from './record-listener.js'

let server: TestServer
let database: TestDatabase

beforeAll(async () => {
  server = await startTestServer({ settings: { max_connections: '10', superuser_reserved_connections: '0' } })
  database = await createDatabase({ migrations: false, serverUrl: server.url })
})

afterAll(async () => {
  await database.drop()
  await server.remove()
})

/** The server is away for longer than pg-listen tries by itself (3 s). */
const AWAY_MS = 5_000

describe('a listener whose server', () => {
  it.each(['stop', 'kill'] as const)('is away for five seconds after a %s comes back by itself', async (how) => {
    const recorded = recordListener(database.url, { backoff: { baseMs: 50, maxMs: 500 } })
    await recorded.started
    const stoppedAt = performance.now()
    await server[how]()
    await waitFor(() => recorded.downs === 1)
    await waitFor(() => performance.now() - stoppedAt > AWAY_MS, { timeoutMs: AWAY_MS + 1_000 })
    await server.restart()
    await waitFor(() => recorded.ups === 2, { timeoutMs: 15_000 })
    await database.pool.query("notify pg_tasks, 'after'")
    await waitFor(() => recorded.heard.includes('pg_tasks:after'))
    expect(recorded.downs).toBe(1)
    expect(recorded.lines.length).toBeLessThanOrEqual(7)
    await recorded.listener.close()
  })

  it('has no connection left but one listens on that, unproven', async () => {
    const clients: Client[] = []
    await expect(async () => {
      for (;;) clients.push(await database.client())
    }).rejects.toThrow('too many clients')
    await clients.pop()?.end()
    const recorded = recordListener(database.url)
    expect(await recorded.started).toBe(true)
    expect(recorded.listener.status).toMatchObject({ listening: true, proven: false })
    await clients[0]?.query("notify pg_tasks, 'x'")
    await waitFor(() => recorded.heard.length === 1)
    expect(recorded.lines[0]).toMatchObject({ level: 'debug' })
    await Promise.all(clients.map((client) => client.end()))
    await waitFor(() => recorded.listener.status.proven)
    expect(recorded).toMatchObject({ ups: 1, downs: 0 })
    await recorded.listener.close()
  })
})

describe('a listener under idle_session_timeout', () => {
  it('keeps its session if it pings more often', async () => {
    const role = await database.createRole('idle')
    await database.pool.query(`alter role ${role.name} set idle_session_timeout = '1500ms'`)
    const recorded = recordListener(role.url, { pingIntervalMs: 100 })
    await recorded.started
    const start = performance.now()
    await waitFor(() => performance.now() - start > 4_000)
    expect(recorded).toMatchObject({ ups: 1, downs: 0 })
    await recorded.listener.close()
  })

  it('comes back at a bounded rate if it pings less often', async () => {
    const role = await database.createRole('idle')
    await database.pool.query(`alter role ${role.name} set idle_session_timeout = '500ms'`)
    const recorded = recordListener(role.url, { pingIntervalMs: 60_000, backoff: { baseMs: 100, maxMs: 500 } })
    await recorded.started
    const start = performance.now()
    await waitFor(() => recorded.ups >= 4)
    // Each time half a second of quiet, then a pause.
    expect(performance.now() - start).toBeGreaterThan(1_500)
    await recorded.listener.close()
  })
})
