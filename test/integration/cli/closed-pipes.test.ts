import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { runCli, startCli } from './run-cli.js'

const database = await createDatabase()
const env = { DATABASE_URL: database.url }
await createTaskType(database.pool, 'greet', { columns: 'name text' })

it('a command ends quietly when nobody reads its answer any more', async () => {
  await database.pool.query(`insert into tasks.greet (name) select repeat('x', 100) from generate_series(1, 2000)`)
  for (const args of [['list', 'greet', '--limit', '2000'], ['--help']]) {
    expect(await runCli(args, { env, deaf: true })).toMatchObject({ code: 0, stderr: '' })
  }
  await database.pool.query('truncate tasks.greet')
})

it('a worker goes on when nobody reads what it and its handlers print', async () => {
  const cli = startCli(['worker', join(import.meta.dirname, 'workers', 'talkative.ts'), '--verbose'], { env })
  await cli.line(/ready, serves tasks.greet/)
  cli.goDeaf()
  // A broken pipe is noticed at the second write.
  for (const name of ['ann', 'ben', 'cem']) {
    await database.pool.query('insert into tasks.greet (name) values ($1)', [name])
    await waitFor(
      async () =>
        (await database.pool.query('select from tasks.greet where name = $1 and finished_at is not null', [name]))
          .rowCount === 1,
      { timeoutMs: 20_000, what: `the end of ${name}` },
    )
  }
  const { rows } = await database.pool.query('select execution_count, last_error from tasks.greet')
  expect(rows).toEqual(Array.from({ length: 3 }, () => ({ execution_count: 1, last_error: null })))
  cli.signal('SIGTERM')
  expect(await cli.ended).toEqual({ code: 0, signal: null })
})
