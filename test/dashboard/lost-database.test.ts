import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { startProxy, type TestProxy } from '../support/proxy.js'
import { createDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { createSampleTypes } from './support/sample-types.js'
import { apiOf, serveDashboard } from './support/serve-dashboard.js'

const database = await createDatabase()
const TYPE = 'types/tasks/nightly_report'
const AWAY = { status: 503, json: { code: 'DATABASE_AWAY' } }

beforeAll(() => createSampleTypes(database.pool))

async function throughProxy(): Promise<{ proxy: TestProxy; api: Awaited<ReturnType<typeof apiOf>> }> {
  const proxy = await startProxy(database.url)
  onTestFinished(() => proxy.close())
  const { url } = await serveDashboard({ connectionString: proxy.url })
  return { proxy, api: await apiOf(url) }
}

/** A request whose statement waits for a lock in the server. */
async function waiting(
  api: Awaited<ReturnType<typeof apiOf>>,
): Promise<{ answer: ReturnType<typeof api>; pid: number }> {
  const holder = await database.client()
  await holder.query('begin; lock table tasks.nightly_report in access exclusive mode')
  onTestFinished(async () => {
    await holder.query('rollback')
  })
  const answer = api('GET', TYPE)
  const pid = await waitFor(
    async () => {
      const { rows } = await database.pool.query(
        `select pid from pg_stat_activity where datname = current_database() and application_name = 'pg-tasks dashboard' and wait_event_type = 'Lock'`,
      )
      return (rows as Array<{ pid: number }>)[0]?.pid
    },
    { what: 'a statement that waits' },
  )
  return { answer, pid }
}

// An error that nobody hears would end this process, and with it whatever server the dashboard is mounted in.
it('a session that the server ends in the middle is told, and is no end of the process', async () => {
  const { api } = await throughProxy()
  const { answer, pid } = await waiting(api)
  await database.pool.query('select pg_terminate_backend($1)', [pid])
  expect(await answer).toMatchObject(AWAY)
})

it('a connection that is reset in the middle is told, and is no end of the process', async () => {
  const { proxy, api } = await throughProxy()
  const { answer } = await waiting(api)
  proxy.cut()
  expect(await answer).toMatchObject(AWAY)
})

it('a network that swallows everything is told in time, as often as it is asked', { timeout: 120_000 }, async () => {
  const { proxy, api } = await throughProxy()
  expect(await api('GET', TYPE)).toMatchObject({ status: 200 })
  await proxy.blackhole()
  for (const answer of await Promise.all(Array.from({ length: 6 }, () => api('GET', TYPE)))) {
    expect(answer).toMatchObject(AWAY)
  }
  await proxy.pass()
  expect(await api('GET', TYPE)).toMatchObject({ status: 200 })
})
