import { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { countStates, createTaskType, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor, within } from '../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../support/worker-process.js'

const SERVE = new URL('./workers/serve.ts', import.meta.url)

/** Until a process has begun, on a busy machine. */
const START = { timeoutMs: 60_000 }

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query(
    'create table effects (of text, task_id bigint, pid int, at timestamptz default clock_timestamp())',
  )
})

async function createOrders(table: string, orders: readonly string[]): Promise<void> {
  await createTaskType(database.pool, table, { columns: `what text not null default 'quick'`, timeout: '1 minute' })
  await database.pool.query(`insert into tasks.${table} (what) select unnest($1::text[])`, [orders])
}

function serve(table: string, env: Record<string, string> = {}): WorkerProcess {
  return spawnScript(SERVE, { env: { DATABASE_URL: database.url, TABLE: table, ...env } })
}

/** Milliseconds from the process's last word to its end. */
async function untilExit(process: WorkerProcess): Promise<number> {
  const stopped = await process.line('stopped ', { timeoutMs: 10_000 })
  expect(await within(process.exited, { timeoutMs: 5_000 })).toEqual({ code: 0, signal: null })
  return Date.now() - Number(stopped.split(' ')[1])
}

describe.each(['SIGTERM', 'SIGINT'] as const)('a process that gets %s', (signal) => {
  // B-46, B-47
  it('lets its running task end, takes no other, and ends by itself', { timeout: 90_000 }, async () => {
    const table = `terminated_${signal.toLowerCase()}`
    await createOrders(table, ['sleep 1500'])
    const process = serve(table)
    await process.line('started 1 1', START)
    process.signal(signal)
    await database.pool.query(`insert into tasks.${table} default values`)
    await process.line('done 1 1')
    const exitMs = await untilExit(process)
    console.log(`ended ${exitMs} ms after run() had resolved`)
    expect(exitMs).toBeLessThan(3_000)
    expect(await countStates(database.pool, table)).toEqual({ finished: 1, ready: 1 })
    expect((await database.pool.query('select from tasks.leases')).rows).toEqual([])
  })
})

describe('a process that stops', () => {
  it('aborts after its patience is over; the task is back uncounted and runs elsewhere within a second', {
    timeout: 90_000,
  }, async () => {
    await createOrders('patience', [])
    const [first, second] = [serve('patience', { STOP_TIMEOUT_MS: '300' }), serve('patience', { CONCURRENCY: '5' })]
    await Promise.all([first.line('ready', START), second.line('ready', START)])
    second.signal('SIGSTOP')
    await database.pool.query(`insert into tasks.patience (what) values ('sleep 60000')`)
    await first.line('started 1 1')
    second.signal('SIGCONT')
    await database.pool.query(`update tasks.patience set what = 'quick'`)
    first.signal('SIGTERM')
    await first.line('aborted(WORKER_STOPPING) 1 1')
    await first.line('released 1')
    const releasedAt = performance.now()
    await second.line('done 1 1')
    console.log(`ran elsewhere ${Math.round(performance.now() - releasedAt)} ms after the release`)
    expect(performance.now() - releasedAt).toBeLessThan(10_000)
    await untilExit(first)
    await second.kill('SIGTERM')
  })

  it('ends by itself also without a signal, with its message channel open to nobody', { timeout: 90_000 }, async () => {
    await createOrders('by_message', ['quick'])
    const process = serve('by_message')
    await process.line('done 1 1', START)
    process.send('stop')
    expect(await untilExit(process)).toBeLessThan(3_000)
  })

  it('ends although a handler never does: its task comes back by the lease', { timeout: 90_000 }, async () => {
    await createOrders('deaf', ['deaf 600000'])
    const process = serve('deaf', { STOP_TIMEOUT_MS: '100' })
    await process.line('started 1 1', START)
    process.signal('SIGTERM')
    await process.line('aborted(WORKER_STOPPING) 1 1')
    // A second one ends the process as if nobody had listened, once it is late enough to be one.
    const repeated = setInterval(() => process.signal('SIGTERM'), 100)
    try {
      expect(await within(process.exited)).toEqual({ code: null, signal: 'SIGTERM' })
    } finally {
      clearInterval(repeated)
    }
    expect(await readTask(database.pool, 'deaf', '1')).toMatchObject({ state: 'running' })
  })

  it('ends during an outage of the database', { timeout: 90_000 }, async () => {
    await createOrders('cut_off', ['sleep 500'])
    const process = serve('cut_off', { STOP_TIMEOUT_MS: '500' })
    await process.line('started 1 1', START)
    const url = new URL(database.url)
    url.pathname = '/postgres'
    const server = new Client({ connectionString: url.href })
    await server.connect()
    await server.query(`alter database ${database.name} with allow_connections false`)
    try {
      await server.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name not like 'test %'`,
        [database.name],
      )
      process.signal('SIGTERM')
      await untilExit(process)
    } finally {
      await server.query(`alter database ${database.name} with allow_connections true`)
      await server.end()
    }
    await waitFor(async () => (await countStates(database.pool, 'cut_off')).running === 1)
  })
})
