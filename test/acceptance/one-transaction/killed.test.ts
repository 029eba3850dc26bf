import { beforeAll, expect, it } from 'vitest'
import { countStates, createTaskType, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../../support/worker-process.js'

const PROGRAM = new URL('./book-payments.ts', import.meta.url)
const START = { timeoutMs: 60_000 }

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query('create table effects (of text, task_id bigint, pid integer)')
})

async function createPayments(table: string, what: readonly string[], settings: object): Promise<void> {
  await createTaskType(database.pool, table, { columns: 'what text not null', ...settings })
  await database.pool.query(`insert into tasks.${table} (what) select unnest($1::text[])`, [what])
}

function serve(table: string, env: Record<string, string> = {}): WorkerProcess {
  return spawnScript(PROGRAM, { env: { DATABASE_URL: database.url, TABLE: table, ...env } })
}

async function effectsOf(table: string): Promise<Array<{ task_id: string; pid: number }>> {
  return (await database.pool.query('select task_id, pid from effects where of = $1 order by task_id', [table])).rows
}

/** Records of batches: one that runs has one until its commit, one that was not committed keeps it. */
async function batchesOf(table: string): Promise<number> {
  const { rowCount } = await database.pool.query('select from tasks.batches where table_id = $1::regclass', [
    `tasks.${table}`,
  ])
  return rowCount ?? 0
}

// Issue 6
it('a process that is killed in mid-batch leaves nothing behind: its tasks are free at once, and no execution is counted', {
  timeout: 120_000,
}, async () => {
  // The lease plays no part.
  await createPayments('torn', [...Array(20).fill('quick'), 'hang', ...Array(9).fill('quick')], { timeout: '1 hour' })
  const first = serve('torn')
  await first.line('hangs 21', START)
  // The worker's first task ran singly.
  expect(await countStates(database.pool, 'torn')).toMatchObject({ finished: 1, ready: 29 })
  const second = serve('torn', { HANGS: 'no' })
  await second.line('ready', START)
  expect(await batchesOf('torn')).toBe(1)
  await first.kill('SIGKILL')
  const killedAt = performance.now()
  await waitFor(async () => (await countStates(database.pool, 'torn')).finished === 30, START)
  console.log(`all ran again ${Math.round(performance.now() - killedAt)} ms after kill -9, with a lease of an hour`)
  const effects = await effectsOf('torn')
  expect(effects.map(({ task_id }) => Number(task_id))).toEqual(Array.from({ length: 30 }, (_, i) => i + 1))
  expect(new Set(effects.slice(1).map(({ pid }) => pid))).toEqual(new Set([second.pid]))
  const rows = await readTasks(database.pool, 'torn')
  expect(new Set(rows.map(({ execution_count }) => execution_count))).toEqual(new Set([1]))
  await second.kill('SIGTERM')
  // Unless the second has met the record of the first, because it ran the tasks singly: whoever looks next finds nothing to do.
  const { rows: looks } = await database.pool.query(
    `select tasks.suspect_batches('tasks.torn'::regclass::oid) as suspects`,
  )
  expect(looks).toEqual([{ suspects: '0' }])
  expect(await batchesOf('torn')).toBe(0)
})

it('a task that kills every process costs its neighbours no execution, and fails once its own are used up', {
  timeout: 240_000,
}, async () => {
  const what = Array.from({ length: 30 }, (_, index) => (index === 11 ? 'kill' : 'quick'))
  await createPayments('poisoned', what, { timeout: '1 s', maxRetries: 2, backoffBase: '10 ms', backoffMax: '10 ms' })
  let killed = 0
  const failed = async () => (await countStates(database.pool, 'poisoned')).failed === 1
  while (!(await failed()) && killed < 10) {
    const one = serve('poisoned')
    await Promise.race([one.exited, waitFor(failed, { timeoutMs: 120_000 })])
    if (await failed()) await one.kill('SIGTERM')
    else killed += 1
  }
  const last = serve('poisoned')
  await waitFor(async () => (await countStates(database.pool, 'poisoned')).finished === 29, START)
  await last.kill('SIGTERM')
  // One in the batch, uncounted; then once per execution.
  expect(killed).toBe(4)
  const rows = await readTasks(database.pool, 'poisoned')
  expect(rows.map(({ state, execution_count }) => `${state} ${execution_count}`)).toEqual(
    what.map((one) => (one === 'kill' ? 'failed 3' : 'finished 1')),
  )
  expect(rows[11]).toMatchObject({ failure_reason: 'lost' })
  expect((await effectsOf('poisoned')).map(({ task_id }) => Number(task_id))).toEqual(
    what.flatMap((one, index) => (one === 'kill' ? [] : [index + 1])),
  )
  expect(await batchesOf('poisoned')).toBe(0)
})

it('a backlog is booked once per task while processes are killed again and again', { timeout: 240_000 }, async () => {
  await createPayments('stormy', Array(4_000).fill('quick'), { timeout: '2 s', maxRetries: null })
  const finished = async () => (await countStates(database.pool, 'stormy')).finished ?? 0
  const processes = [serve('stormy', { SIZE: '20' }), serve('stormy', { SIZE: '20' }), serve('stormy', { SIZE: '20' })]
  for (let kill = 1; kill <= 4; kill += 1) {
    const from = await finished()
    await waitFor(async () => (await finished()) >= Math.min(from + 300, 4_000), START)
    await processes.shift()?.kill('SIGKILL')
    processes.push(serve('stormy', { SIZE: '20' }))
  }
  await waitFor(async () => (await finished()) === 4_000, START)
  await Promise.all(processes.map((one) => one.kill('SIGTERM')))
  const effects = await effectsOf('stormy')
  expect(effects.map(({ task_id }) => Number(task_id))).toEqual(Array.from({ length: 4_000 }, (_, i) => i + 1))
})
