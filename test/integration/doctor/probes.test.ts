import { probeListening, probePooler } from '@pg-tasks/sql'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../listener/pgbouncer.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

describe('the probes of sessions', () => {
  it('find a direct connection well, and leave nothing on it', async () => {
    const [first, second] = [await database.client(), await database.client()]
    expect(await probePooler(first, second)).toMatchObject({ check: 'pooler', severity: 'ok' })
    expect(await probeListening(first, second)).toMatchObject({ check: 'listen', severity: 'ok' })
    expect((await first.query('select pg_listening_channels()')).rows).toEqual([])
    expect(first.listenerCount('notification')).toBe(0)
  })

  it('find a notification that does not arrive', async () => {
    const [first, second] = [await database.client(), await database.client()]
    await second.query('begin')
    expect(await probeListening(first, second, 50)).toMatchObject({
      severity: 'critical',
      findings: [{ problem: expect.stringContaining('did not arrive') }],
    })
    await second.query('rollback')
  })
})

describe.skipIf(pgbouncerMissing)(`behind pgbouncer${pgbouncerMissing ? `: ${pgbouncerMissing}` : ''}`, () => {
  const bouncers: PgBouncer[] = []
  const clients: Client[] = []

  async function through(poolMode: 'transaction' | 'session'): Promise<[Client, Client]> {
    const bouncer = await startPgBouncer(database.url, { poolMode })
    bouncers.push(bouncer)
    const pair: [Client, Client] = [
      new Client({ connectionString: bouncer.url }),
      new Client({ connectionString: bouncer.url }),
    ]
    for (const client of pair) await client.connect()
    clients.push(...pair)
    return pair
  }

  afterAll(async () => {
    for (const client of clients) await client.end()
    for (const bouncer of bouncers) await bouncer.stop()
  })

  it('the pooler is found in transaction mode', async () => {
    expect(await probePooler(...(await through('transaction')))).toMatchObject({
      severity: 'warning',
      findings: [{ remedy: expect.stringContaining('listenerConnectionString') }],
    })
  })

  it('it does no harm in session mode', async () => {
    const pair = await through('session')
    expect(await probePooler(...pair)).toMatchObject({ severity: 'ok' })
    expect(await probeListening(...pair)).toMatchObject({ severity: 'ok' })
  })
})
