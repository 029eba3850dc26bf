import { Pool } from 'pg'
import { afterEach, beforeEach, describe, it } from 'vitest'
import { databaseUrl } from '../../support/names.js'
import { type Replica, startReplica } from '../../support/replica.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startTestServer, type TestServer } from '../../support/test-server.js'
import { OrderLoad } from './order-load.js'

let server: TestServer
let database: TestDatabase
let load: OrderLoad | undefined

beforeEach(async () => {
  // What is acknowledged must be on the disk: the server is killed.
  server = await startTestServer({ fsync: true })
  database = await createDatabase({ serverUrl: server.url })
})

async function endLoad(): Promise<void> {
  await load?.end()
  load = undefined
}

describe('a server that is killed and restarted under load', { timeout: 180_000 }, () => {
  afterEach(async () => {
    await endLoad()
    await database.drop()
    await server.remove()
  })

  it('finds its worker processes up, which go on by themselves and lose and repeat nothing', async () => {
    load = await OrderLoad.start(database.pool, [database.url])
    for (let round = 1; round <= 3; round++) {
      await load.isWorking()
      server.kill()
      await server.restart()
      console.log(`round ${round}: an order was done ${Math.round(await load.resumed())} ms after the server was back`)
    }
    await load.check(database.pool)
  })
})

describe('a primary that is killed under load, with a synchronous replica', { timeout: 180_000 }, () => {
  let replica: Replica
  let promoted: Pool | undefined

  afterEach(async () => {
    await endLoad()
    await promoted?.end()
    await server.restart()
    // Its replica is gone: a commit would wait for it for ever.
    await database.pool.query('alter system reset synchronous_standby_names')
    await database.pool.query('select pg_reload_conf()')
    await database.drop()
    await Promise.all([replica.remove(), server.remove()])
  })

  it('is left for the promoted one by the same worker processes; nothing that was acknowledged is lost', async () => {
    replica = await startReplica(server, { synchronous: true })
    const replicaUrl = databaseUrl(replica.url, database.name)
    load = await OrderLoad.start(database.pool, [database.url, replicaUrl])
    await load.isWorking()
    server.kill()
    const killedAt = performance.now()
    await replica.promote()
    const tookMs = await load.resumed()
    const sinceKill = Math.round(performance.now() - killedAt)
    console.log(`an order was done ${Math.round(tookMs)} ms after the promotion, ${sinceKill} ms after the kill`)
    await load.isWorking()
    promoted = new Pool({ connectionString: replicaUrl })
    await load.check(promoted)
  })
})
