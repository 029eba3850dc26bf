import { createServer, type Server } from 'node:net'
import { inTransaction } from '@pg-tasks/client'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resolveConnection } from '../../packages/client/src/connection/connection-source.js'
import { createPool } from '../../packages/client/src/connection/create-pool.js'
import { ReconnectingClient } from '../../packages/client/src/connection/reconnecting-client.js'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

// A server that crashes or is shut down just after it has let a session in says both in one piece. That must neither end the
// process nor leave a connection that looks alive.

let database: TestDatabase
let server: Server
let url: string

beforeAll(async () => {
  database = await createDatabase()
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTTING_DOWN])))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  url = `postgres://somebody@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/somewhere`
})

afterAll(() => {
  server.close()
})

function message(type: string, ...parts: ReadonlyArray<Buffer | string>): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)))
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const AUTHENTICATED = message('R', Buffer.alloc(4))
const READY = message('Z', Buffer.from('I'))
const SHUTTING_DOWN = message(
  'E',
  'SFATAL',
  'VFATAL',
  'C57P01',
  'Mterminating connection due to administrator command',
  Buffer.alloc(1),
)

it('makes a connection of our own go on to the next server', async () => {
  const reasons: Error[] = []
  const client = new ReconnectingClient({
    source: resolveConnection('Client', { connectionString: [url, database.url] }),
    applicationName: 'farewell',
    onDisconnect: (reason) => reasons.push(reason),
  })
  const { rows } = await client.query('select 1 as one')
  expect(rows).toEqual([{ one: 1 }])
  expect(reasons).toEqual([])
  await client.close()
})

it('makes a pool of our own refuse, and then go on to the next server', async () => {
  const source = resolveConnection('Pool', { connectionString: [url, database.url] })
  const pool = createPool({ source, applicationName: 'farewell', max: 1 })
  await pool.query('select 1').catch(() => {})
  source.failed(source.servers[0] as never)
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})

it("makes a transaction on a user's pool fail, and the pool goes on", async () => {
  const pool = new Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {})
  for (let round = 0; round < 3; round++) {
    await expect(inTransaction(pool, (tx) => tx.query('select 1'))).rejects.toThrow()
  }
  await pool.end()
})

it('leaves pools that know no callbacks as they are', async () => {
  const pool = new Pool({ connectionString: database.url, max: 1 })
  const wrapped = [{ connect: () => pool.connect() }, { connect: (_timeoutMs?: number) => pool.connect() }]
  for (const one of wrapped) {
    const { rows } = await inTransaction(one, (tx) => tx.query('select 1 as one'))
    expect(rows).toEqual([{ one: 1 }])
  }
  await pool.end()
})

it('does not keep a worker from its tasks', async () => {
  await createTaskType(database.pool, 'farewell')
  await insertTasks(database.pool, 'farewell')
  const recorded = await startWorker({ connectionString: [url, database.url] }, [taskOf('farewell'), 1])
  expect(await recorded.seen('finished')).toHaveLength(1)
})
