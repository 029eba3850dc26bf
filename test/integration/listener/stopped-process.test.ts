import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript } from '../../support/worker-process.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase({ migrations: false })
})

async function sessions(): Promise<number> {
  const { rowCount } = await database.pool.query(
    "select from pg_stat_activity where application_name = 'stopped listener'",
  )
  return rowCount ?? 0
}

/** More than the buffers of a connection hold, each way. */
async function flood(): Promise<void> {
  for (let round = 0; round < 40; round++) {
    await database.pool.query(
      "select count(pg_notify('pg_tasks', n || repeat('x', 7900))) from generate_series(1, 100) n",
    )
  }
}

describe('a process that is stopped while it listens', () => {
  it('is cut off by the server, before it holds up the notification queue', async () => {
    const worker = spawnScript(new URL('./workers/listen.ts', import.meta.url), {
      env: { DATABASE_URL: database.url, TCP_USER_TIMEOUT_MS: '1000' },
    })
    await worker.line('listening')
    expect(await sessions()).toBe(1)
    worker.signal('SIGSTOP')
    await flood()
    await waitFor(async () => (await sessions()) === 0, { timeoutMs: 15_000 })
  })
})
