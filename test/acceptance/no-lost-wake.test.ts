import { expect, it } from 'vitest'
import { countStates, createTaskType } from '../support/task-type.js'
import { createDatabase } from '../support/test-database.js'
import { spawnScript } from '../support/worker-process.js'

const SERVE = new URL('./workers/serve.ts', import.meta.url)
const INSERT = new URL('./workers/insert-and-wait.ts', import.meta.url)
const TRIES = 1_000

// The poll stands at 60 s: a wake-up that is lost once makes this test fail.
it('no insert is overlooked in 1,000 tries against two workers that fall asleep all the time', {
  timeout: 180_000,
}, async () => {
  const database = await createDatabase()
  await createTaskType(database.pool, 'woken', { columns: `what text not null default 'quick'` })
  const workers = [1, 2].map(() =>
    spawnScript(SERVE, { env: { DATABASE_URL: database.url, TABLE: 'woken', CONCURRENCY: '2', BATCH_SIZE: '2' } }),
  )
  await Promise.all(workers.map((worker) => worker.line('ready', { timeoutMs: 60_000 })))
  const began = performance.now()
  // One only: another one's next insert would make up for a wake-up that was lost.
  const inserter = spawnScript(INSERT, { env: { DATABASE_URL: database.url, TABLE: 'woken', COUNT: String(TRIES) } })
  await inserter.line('inserted', { timeoutMs: 150_000 })
  const { rows } = await database.pool.query<{ median: number; longest: number }>(`
    select percentile_cont(0.5) within group (order by ms) as median, max(ms) as longest
    from (select 1000 * extract(epoch from started_at - created_at)::float8 as ms from tasks.woken) t`)
  console.log(
    `${TRIES} tries in ${Math.round(performance.now() - began)} ms; from insert to start: median ${rows[0]?.median.toFixed(1)}, longest ${rows[0]?.longest.toFixed(1)} ms`,
  )
  expect(await countStates(database.pool, 'woken')).toEqual({ finished: (TRIES / 2) * 31 + TRIES / 2 })
  await Promise.all(workers.map((worker) => worker.kill('SIGTERM')))
})
