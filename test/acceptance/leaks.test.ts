import { expect, it } from 'vitest'
import { createTaskType } from '../support/task-type.js'
import { createDatabase } from '../support/test-database.js'
import { spawnScript } from '../support/worker-process.js'

interface Measured {
  readonly heap: number
  readonly timers: number
  readonly sockets: number
}

// B-54, B-58
it('a worker leaves nothing behind per task or per poll, and neither it nor its Task overlaps queries', {
  timeout: 120_000,
}, async () => {
  const database = await createDatabase()
  await createTaskType(database.pool, 'measured', { maxRetries: 0 })
  const process = spawnScript(new URL('./workers/measure-leaks.ts', import.meta.url), {
    env: { DATABASE_URL: database.url, NODE_OPTIONS: '--throw-deprecation' },
  })
  const { before, after } = await process.message<{ before: Measured; after: Measured }>({ timeoutMs: 90_000 })
  console.log(`after 5,000 tasks: ${JSON.stringify(before)}; after 20,000 more and 100 polls: ${JSON.stringify(after)}`)
  expect(after.heap - before.heap).toBeLessThan(5_000_000)
  expect(after.timers).toBeLessThanOrEqual(before.timers + 2)
  // The worker's four and the script's own; the heartbeat's is made with the first beat.
  expect(after.sockets).toBeLessThanOrEqual(5)
  expect(await process.exited).toEqual({ code: 0, signal: null })
  expect(process.output.filter((line) => /warning|deprecat/i.test(line))).toEqual([])
})
