import { beforeAll, expect, it } from 'vitest'
import { countStates, createTaskType } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { spawnScript } from '../support/worker-process.js'

const LEASE_MS = 2_000
const HOUR_MS = 3_600_000

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'timed', {
    columns: 'what text not null, shift text not null',
    timeout: `${LEASE_MS} ms`,
  })
})

// B-60
it('processes whose clocks are an hour fast and slow run everything when it is due, and keep their leases', {
  timeout: 120_000,
}, async () => {
  const processes = [HOUR_MS, -HOUR_MS].map((shiftMs) =>
    spawnScript(new URL('./workers/wrong-clock.ts', import.meta.url), {
      env: { DATABASE_URL: database.url, SHIFT_MS: String(shiftMs), LEASE_MS: String(LEASE_MS) },
    }),
  )
  for (const [index, process] of processes.entries()) {
    const said = await process.line('enqueued at', { timeoutMs: 60_000 })
    // The clocks are wrong indeed.
    const offMs = Date.parse(said.slice('enqueued at '.length)) - Date.now()
    expect(Math.sign(offMs)).toBe(index === 0 ? 1 : -1)
    expect(Math.abs(offMs)).toBeGreaterThan(HOUR_MS / 2)
  }
  await waitFor(async () => (await countStates(database.pool, 'timed')).finished === 6, { timeoutMs: 60_000 })
  const { rows } = await database.pool.query(
    `select what, execution_count as executions, lost_count as losses,
       what = 'long' or started_at - created_at >= interval '1500 ms' as late_enough, started_at - created_at < interval '1 minute' as soon_enough
     from tasks.timed order by what, shift`,
  )
  const onTime = { losses: 0, late_enough: true, soon_enough: true }
  expect(rows).toEqual([
    ...Array(2).fill({ what: 'long', executions: 1, ...onTime }),
    ...Array(2).fill({ what: 'retries', executions: 2, ...onTime }),
    ...Array(2).fill({ what: 'waits', executions: 1, ...onTime }),
  ])
  await Promise.all(processes.map((process) => process.kill('SIGTERM', { timeoutMs: 30_000 })))
})
