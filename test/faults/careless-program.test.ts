import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../support/proxy.js'
import { createTaskType, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../support/worker-process.js'

const CARELESS = new URL('./workers/careless.ts', import.meta.url)

/** Until a process has begun, on a busy machine. */
const START = { timeoutMs: 60_000 }
const TEST = { timeout: 120_000 }

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startProxy(database.url)
  await createTaskType(database.pool, 'careless', {
    columns: `what text not null default 'nothing'`,
    timeout: '2 s',
    backoffBase: '10 ms',
  })
})

afterAll(() => proxy.close())

function start(env: Record<string, string> = {}): WorkerProcess {
  return spawnScript(CARELESS, { env: { DATABASE_URL: proxy.url, ...env } })
}

async function enqueue(what: string): Promise<string> {
  const { rows } = await database.pool.query('insert into tasks.careless (what) values ($1) returning id', [what])
  return rows[0].id
}

/** The sessions that others than the test have, the listener's first. */
async function sessions(): Promise<Array<{ pid: number }>> {
  const { rows } = await database.pool.query(
    `select pid from pg_stat_activity where datname = current_database() and application_name not in ('test pool', 'test client')
     order by query ilike '%pg_tasks_ping%' desc, pid`,
  )
  return rows
}

// B-05
describe('a program that listens to no event of its worker', () => {
  it(
    'stays up while its sessions are ended one after the other, and while no connection can be had',
    TEST,
    async () => {
      const program = start()
      await program.line(`done ${await enqueue('nothing')}`, START)
      for (const { pid } of await sessions()) {
        await database.pool.query('select pg_terminate_backend($1)', [pid])
        await program.line(`done ${await enqueue('nothing')}`, START)
      }
      // Also the one that a handler has in use.
      const id = await enqueue('holds a connection')
      await program.line('started 1', START)
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%'`,
      )
      await program.line(`done ${id}`, START)
      expect(await readTask(database.pool, 'careless', id)).toMatchObject({ state: 'finished', execution_count: 2 })

      await proxy.reset()
      const { accepted } = proxy.counters
      await waitFor(() => proxy.counters.accepted >= accepted + 10, START)
      const meanwhile = await enqueue('nothing')
      await proxy.pass()
      await program.line(`done ${meanwhile}`, START)
      expect(await program.kill('SIGTERM', START)).toEqual({ code: 0, signal: null })
      // Neither a warning of Node's nor anything of ours on the console.
      expect(program.output.filter((line) => !/^(started|done) /.test(line))).toEqual([])
    },
  )
})

// B-49
describe('a rejection that a handler leaves to nobody', () => {
  it('reaches the program, and its task ends as the handler did', TEST, async () => {
    const program = start({ NOTES_REJECTIONS: 'yes' })
    const id = await enqueue('floats')
    await program.line('unhandled: nobody waits for this', START)
    await waitFor(async () => (await readTask(database.pool, 'careless', id)).state === 'finished', START)
    await program.line(`done ${await enqueue('nothing')}`, START)
    await program.kill('SIGTERM', START)
  })

  it('ends a program that does not want to know, as Node does; the task comes back', TEST, async () => {
    const id = await enqueue('floats')
    const program = start()
    expect((await program.exited).code).toBe(1)
    expect(program.output.join('\n')).toContain('nobody waits for this')
    await database.pool.query(`update tasks.careless set what = 'nothing' where id = $1`, [id])
    const next = start()
    await next.line(`done ${id}`, START)
    await next.kill('SIGTERM', START)
  })
})
