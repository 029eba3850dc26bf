import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { startProxy, type TestProxy } from '../support/proxy.js'
import { createTaskType, insertTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { startTestServer, type TestServer } from '../support/test-server.js'

let server: TestServer
let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  server = await startTestServer()
  database = await createDatabase({ serverUrl: server.url })
  proxy = await startProxy(database.url)
})

afterAll(async () => {
  await proxy.close()
  await database.drop()
  await server.remove()
})

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1_000))

// B-02, B-19. The poll stands at 60 s: what starts sooner was announced, and heard.
it('a worker outlives a minute without a database, says little meanwhile, and is woken again', {
  timeout: 180_000,
}, async () => {
  await createTaskType(database.pool, 'away_a')
  await createTaskType(database.pool, 'away_b')
  const recorded = await startWorker({ connectionString: database.url }, [taskOf('away_a'), 1], [taskOf('away_b'), 1])
  const cpuBefore = process.cpuUsage()
  await server.stop()
  await seconds(60)
  const cpu = process.cpuUsage(cpuBefore)
  await server.restart()
  const lines = recorded.lines.filter(({ level }) => level !== 'debug').length
  console.log(
    `${lines} lines and ${Math.round((cpu.user + cpu.system) / 1_000)} ms of CPU in a minute without a database`,
  )
  expect(lines).toBeLessThanOrEqual(60)
  await recorded.seen('listening', { count: 2 })
  for (const [index, table] of ['away_a', 'away_b', 'away_a'].entries()) {
    await insertTasks(database.pool, table)
    await recorded.seen('finished', { count: index + 1, timeoutMs: 20_000 })
  }
  await recorded.worker.stop()
})

// B-04
it('a worker whose connections are swallowed without a word has others after the next ping, and overlooks nothing', {
  timeout: 180_000,
}, async () => {
  await createTaskType(database.pool, 'swallowed', { timeout: '10 s' })
  const recorded = await startWorker({ connectionString: proxy.url, pollIntervalMs: 600_000 }, [taskOf('swallowed'), 1])
  await insertTasks(database.pool, 'swallowed')
  await recorded.seen('finished')
  const { accepted } = proxy.counters
  await proxy.blackhole()
  await insertTasks(database.pool, 'swallowed')
  await recorded.seen('not_listening', { timeoutMs: 40_000 })
  // A handful of attempts, one after the other, not a pile.
  await seconds(20)
  expect(proxy.counters.accepted - accepted).toBeLessThan(20)
  await proxy.pass()
  await recorded.seen('finished', { count: 2, timeoutMs: 60_000 })
  await recorded.worker.stop()
})
