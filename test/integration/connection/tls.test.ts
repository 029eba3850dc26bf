import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConnectionOptions } from '../../../packages/client/src/connection/connection-options.js'
import { type ConnectionSource, resolveConnection } from '../../../packages/client/src/connection/connection-source.js'
import { createPool, type OwnedPool } from '../../../packages/client/src/connection/create-pool.js'
import { ReconnectingClient } from '../../../packages/client/src/connection/reconnecting-client.js'
import { Listener } from '../../../packages/client/src/listener/listener.js'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { waitFor } from '../../support/wait-for.js'

const withoutOpenssl = spawnSync('openssl', ['version']).error !== undefined

describe.skipIf(withoutOpenssl)(`over TLS${withoutOpenssl ? ': openssl is not installed' : ''}`, () => {
  let server: TestServer
  let database: TestDatabase
  let proxy: TestProxy
  let certificate: string

  beforeAll(async () => {
    server = await startTestServer()
    database = await createDatabase({ migrations: false, serverUrl: server.url })
    certificate = await encrypt(server, database)
    proxy = await startProxy(database.url)
  })

  afterAll(async () => {
    await proxy.close()
    await database.drop()
    await server.remove()
  })

  function url(parameters = ''): string {
    return `${proxy.url.replace('127.0.0.1', 'localhost')}${parameters}`
  }

  const accepted: Record<string, () => ConnectionOptions> = {
    "the server's certificate": () => ({
      connectionString: url(),
      connectionConfig: { ssl: { ca: certificate } },
    }),
    'any certificate': () => ({ connectionString: url('?sslmode=no-verify') }),
  }

  it.each(Object.entries(accepted))('client, pool and listener connect that take %s', async (_, options) => {
    await withAll(resolveConnection('Worker', options()), async ({ client, pool, listener }) => {
      for (const queryable of [client, pool]) {
        const { rows } = await queryable.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
        expect(rows).toEqual([{ ssl: true }])
      }
      expect(await listener.start()).toBe(true)
    })
  })

  it('client, pool and listener refuse a certificate that they do not know, all alike', async () => {
    const connectionConfig = { ssl: { ca: certificate } }
    const source = resolveConnection('Worker', { connectionString: url('?sslmode=verify-full'), connectionConfig })
    // What the URL says replaces the setting, so the certificate is unknown.
    expect(source.warnings).toHaveLength(1)
    await withAll(source, async ({ client, pool, listener, reasons }) => {
      await expect(client.query('select 1')).rejects.toThrow('self-signed certificate')
      await expect(pool.query('select 1')).rejects.toThrow('self-signed certificate')
      expect(await listener.start()).toBe(false)
      expect(reasons[0]?.message).toContain('self-signed certificate')
    })
  })

  it('a black hole is noticed, and nothing is left of it', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((type) => /^(TCPSocket|TLS)W/.test(type)).length
    const before = sockets()
    const source = resolveConnection('Worker', { connectionString: url('?sslmode=no-verify') })
    await withAll(source, async ({ client, pool, listener }) => {
      expect(await listener.start()).toBe(true)
      await Promise.all([client.query('select 1'), pool.query('select 1')])
      await proxy.blackhole()
      await expect(client.query('select 1', [], { deadlineMs: 200 })).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
      await waitFor(() => !listener.status.listening)
      await proxy.pass()
      await waitFor(() => listener.status.listening)
      await client.query('select 1')
      await proxy.blackhole()
    })
    await proxy.pass()
    await waitFor(() => sockets() <= before)
  })
})

interface All {
  readonly client: ReconnectingClient
  readonly pool: OwnedPool
  readonly listener: Listener
  readonly reasons: readonly Error[]
}

async function withAll(source: ConnectionSource, use: (all: All) => Promise<void>): Promise<void> {
  const reasons: Error[] = []
  const applicationName = 'over TLS'
  const deadlines = { connectTimeoutMs: 1_000, backoff: { baseMs: 20, maxMs: 100 } }
  const client = new ReconnectingClient({ source, applicationName, ...deadlines })
  const pool = createPool({ source, applicationName, max: 1, connectTimeoutMs: 1_000 })
  const listener = new Listener({
    source,
    applicationName,
    ...deadlines,
    channels: ['pg_tasks'],
    pingIntervalMs: 200,
    pingTimeoutMs: 500,
    onNotification: () => {},
    onDown: (reason) => reasons.push(reason),
  })
  try {
    await use({ client, pool, listener, reasons })
  } finally {
    await Promise.all([client.close(), pool.end(), listener.close()])
  }
}

/** Gives the server a certificate for localhost that it has signed itself; returns it. */
async function encrypt(server: TestServer, database: TestDatabase): Promise<string> {
  const data = join(server.directory, 'data')
  const [key, certificate] = [join(data, 'server.key'), join(data, 'server.crt')]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
  const names = ['-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  const { uid, gid } = statSync(data)
  if (process.getuid?.() === 0) for (const file of [key, certificate]) chownSync(file, uid, gid)
  await database.pool.query('alter system set ssl = on')
  await database.pool.query('select pg_reload_conf()')
  await waitFor(async () => (await database.pool.query<{ ssl: string }>('show ssl')).rows[0]?.ssl === 'on')
  return readFileSync(certificate, 'utf8')
}
