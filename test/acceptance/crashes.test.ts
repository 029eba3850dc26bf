import { beforeAll, describe, expect, it } from 'vitest'
import { countStates, createTaskType, readTask, readTasks } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../support/worker-process.js'

const SERVE = new URL('./workers/serve.ts', import.meta.url)
const LEASE_MS = 2_000

/** Until a process has begun, on a busy machine. */
const START = { timeoutMs: 60_000 }

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query(
    'create table effects (of text, task_id bigint, pid int, at timestamptz default clock_timestamp())',
  )
})

async function createOrders(
  table: string,
  orders: readonly string[],
  settings: { maxRetries?: number; backoffBase?: string } = {},
): Promise<void> {
  await createTaskType(database.pool, table, {
    columns: `what text not null default 'quick'`,
    timeout: `${LEASE_MS} ms`,
    ...settings,
  })
  await database.pool.query(`insert into tasks.${table} (what) select unnest($1::text[])`, [orders])
}

function serve(table: string, env: Record<string, string> = {}): WorkerProcess {
  return spawnScript(SERVE, { env: { DATABASE_URL: database.url, TABLE: table, ...env } })
}

async function effects(table: string): Promise<Array<{ task_id: string; pid: number }>> {
  return (await database.pool.query('select task_id, pid from effects where of = $1 order by task_id', [table])).rows
}

// B-38, PEERS 3
describe('a process that is killed', () => {
  it('has its ten running tasks run again within the lease and a second, each with one effect', {
    timeout: 120_000,
  }, async () => {
    await createOrders('killed', Array(10).fill('sleep 60000'))
    const first = serve('killed', { CONCURRENCY: '10' })
    await waitFor(async () => (await countStates(database.pool, 'killed')).running === 10, START)
    const second = serve('killed', { CONCURRENCY: '10' })
    await second.line('ready', START)
    // From now on they are quick.
    await database.pool.query(`update tasks.killed set what = 'quick'`)
    await first.kill('SIGKILL')
    const killedAt = performance.now()
    await waitFor(async () => (await countStates(database.pool, 'killed')).finished === 10, START)
    const tookMs = performance.now() - killedAt
    console.log(`all ten ran again ${Math.round(tookMs)} ms after kill -9, with a lease of ${LEASE_MS} ms`)
    expect(tookMs).toBeLessThan(15_000)
    const found = await effects('killed')
    expect(found.map((effect) => effect.task_id)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
    expect(new Set(found.map((effect) => effect.pid))).toEqual(new Set([second.pid]))
    expect((await readTasks(database.pool, 'killed')).map((row) => [row.execution_count, row.lost_count])).toEqual(
      Array(10).fill([2, 1]),
    )
    await second.kill('SIGTERM')
  })

  it('leaves neither effect nor finish behind when it dies between the two', { timeout: 120_000 }, async () => {
    await createOrders('torn', ['dies_in_transaction'])
    const first = serve('torn')
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(await effects('torn')).toEqual([])
    expect(await countStates(database.pool, 'torn')).toEqual({ running: 1 })
    const second = serve('torn')
    await second.line('done 1 2', START)
    expect(await effects('torn')).toEqual([{ task_id: '1', pid: second.pid }])
    await second.kill('SIGTERM')
  })
})

// B-39, B-40
describe('a process that does not come to renew its lease', () => {
  /** Two processes, of which the first has begun the order. */
  async function twoServe(table: string, order: string): Promise<[first: WorkerProcess, second: WorkerProcess]> {
    await createOrders(table, [])
    const both = [serve(table), serve(table)]
    await Promise.all(both.map((process) => process.line('ready', START)))
    await database.pool.query(`insert into tasks.${table} (what) values ($1)`, [order])
    const first = await waitFor(() => both.find((process) => process.output.includes('started 1 1')))
    return [first, both.find((process) => process !== first) as WorkerProcess]
  }

  it('because a handler holds up its event loop: its transaction is refused, the other one has the only effect', {
    timeout: 120_000,
  }, async () => {
    const [first, second] = await twoServe('blocked', `spin ${3 * LEASE_MS}`)
    await database.pool.query(`update tasks.blocked set what = 'quick'`)
    await second.line('done 1 2', START)
    await first.line('refused(TASK_NOT_RUNNING) 1 1')
    expect(await effects('blocked')).toEqual([{ task_id: '1', pid: second.pid }])
    expect(await readTask(database.pool, 'blocked', '1')).toMatchObject({
      state: 'finished',
      execution_count: 2,
      lost_count: 1,
    })
    // It goes on with what comes.
    await second.kill('SIGTERM')
    await database.pool.query('insert into tasks.blocked default values')
    await first.line('done 2 1')
    await first.kill('SIGTERM')
  })

  it('because it was suspended: its signal is aborted when it goes on, and it changes nothing', {
    timeout: 120_000,
  }, async () => {
    const [first, second] = await twoServe('suspended', 'sleep 60000')
    first.signal('SIGSTOP')
    await database.pool.query(`update tasks.suspended set what = 'quick'`)
    await second.line('done 1 2', START)
    first.signal('SIGCONT')
    const resumedAt = performance.now()
    await first.line('aborted(taken_over) 1 1')
    console.log(`aborted ${Math.round(performance.now() - resumedAt)} ms after SIGCONT`)
    expect(performance.now() - resumedAt).toBeLessThan(10_000)
    expect(await effects('suspended')).toEqual([{ task_id: '1', pid: second.pid }])
    expect(await readTask(database.pool, 'suspended', '1')).toMatchObject({ state: 'finished', execution_count: 2 })
    await Promise.all([first.kill('SIGTERM'), second.kill('SIGTERM')])
  })
})

// B-42
describe('a task that ends its process', () => {
  it('has exactly the executions that its type allows, then is failed as lost; its neighbours run to their end', {
    timeout: 120_000,
  }, async () => {
    await createOrders('aborts', ['sleep 100', 'abort', ...Array(8).fill('sleep 100')], {
      maxRetries: 2,
      backoffBase: '10 ms',
    })
    const starts: string[] = []
    let current: WorkerProcess | undefined
    let over = false
    const supervise = async (): Promise<void> => {
      while (!over) {
        current = serve('aborts', { CONCURRENCY: '5' })
        await current.exited
        starts.push(...current.output.filter((line) => line.startsWith('started 2 ')))
      }
    }
    const supervised = supervise()
    await waitFor(
      async () => {
        const states = await countStates(database.pool, 'aborts')
        return states.failed === 1 && states.finished === 9
      },
      { timeoutMs: 100_000 },
    )
    over = true
    await current?.kill('SIGTERM')
    await supervised
    expect(starts).toEqual(['started 2 1', 'started 2 2', 'started 2 3'])
    expect(await readTask(database.pool, 'aborts', '2')).toMatchObject({
      state: 'failed',
      failure_reason: 'lost',
      execution_count: 3,
    })
    expect((await effects('aborts')).map((effect) => effect.task_id)).toEqual([
      '1',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
    ])
    const worst = Math.max(
      ...(await readTasks(database.pool, 'aborts')).filter((row) => row.id !== '2').map((row) => row.execution_count),
    )
    console.log(`executions of the unluckiest neighbour: ${worst}`)
    expect(worst).toBeLessThanOrEqual(3)
  })
})
