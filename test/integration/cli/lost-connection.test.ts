import { expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { startCli } from './run-cli.js'

const database = await createDatabase()
const env = { DATABASE_URL: database.url }
await createTaskType(database.pool, 'mail', { columns: 'address text' })

/** The command's session, once it is in that state. */
async function session(state: string): Promise<number> {
  const rows = await waitFor(
    async () => {
      const result = await database.pool.query(
        `select pid from pg_stat_activity
         where datname = current_database() and application_name = 'pg-tasks cli' and state = $1 and query !~ 'check_interval|set_config'`,
        [state],
      )
      return result.rows.length > 0 ? (result.rows as Array<{ pid: number }>) : undefined
    },
    { timeoutMs: 20_000, what: `a session that is ${state}` },
  )
  return rows[0]?.pid ?? 0
}

it.each(['csv', 'jsonl'])(
  'enqueue ends when the connection is lost while its pipe of %s says nothing',
  async (format) => {
    const cli = startCli(['enqueue', 'mail', '--file', '-', '--format', format], { env })
    await database.pool.query('select pg_terminate_backend($1)', [await session('idle in transaction')])
    expect(await cli.ended).toEqual({ code: 3, signal: null })
    expect(cli.lines.join('\n')).toMatch(/error: .*connection/)
  },
)

it('the server ends the statement of a command that was interrupted', async () => {
  await database.pool.query('insert into tasks.mail default values')
  const cli = startCli(['list', 'mail', '--where', 'pg_sleep(60) is not null'], { env })
  const pid = await session('active')
  cli.signal('SIGINT')
  await cli.ended
  await waitFor(
    async () => (await database.pool.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 0,
    { timeoutMs: 20_000, what: 'the end of the session' },
  )
})
