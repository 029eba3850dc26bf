import { expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { spawnScript, type WorkerProcess } from '../../support/worker-process.js'
import type { Told } from './workers/wait-for-abort.js'

const TRIES = 60

const database = await createDatabase()
const { pool } = database

function startWorker(table: string): WorkerProcess {
  return spawnScript(new URL('./workers/wait-for-abort.ts', import.meta.url), {
    env: { DATABASE_URL: database.url, TABLE: table },
  })
}

async function told<Event extends Told['event']>(
  worker: WorkerProcess,
  event: Event,
): Promise<Extract<Told, { event: Event }>> {
  for (;;) {
    const message = await worker.message<Told>()
    if (message.event === event) return message as Extract<Told, { event: Event }>
  }
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

it('a cancel or reset by another process aborts the signal long before the next heartbeat', {
  timeout: 60_000,
}, async () => {
  await createTaskType(pool, 'aborted')
  const worker = startWorker('aborted')
  const canceler = spawnScript(new URL('./workers/cancel-tasks.ts', import.meta.url), {
    env: { DATABASE_URL: database.url, TABLE: 'aborted' },
  })
  expect(await canceler.message()).toBe('ready')
  const delays: { cancel: number[]; reset: number[] } = { cancel: [], reset: [] }
  // Heartbeats are 20 s apart. The time that is measured begins with the other process's call, before its statement is sent.
  for (let number = 0; number < TRIES; number += 1) {
    const verb = number % 2 === 0 ? 'cancel' : 'reset'
    const [id] = (await insertTasks(pool, 'aborted')) as [string]
    expect(await told(worker, 'started')).toMatchObject({ id })
    canceler.send({ verb, id })
    const { at, found } = await canceler.message<{ at: number; found: string }>()
    const aborted = await told(worker, 'aborted')
    expect({ ...aborted, found }).toMatchObject({
      id,
      found: 'running',
      reason: verb === 'cancel' ? 'canceled' : 'reset',
    })
    delays[verb].push(aborted.at - at)
    if (verb === 'reset') {
      // It runs again; that is no part of what is measured.
      await told(worker, 'started')
      await pool.query('select tasks.cancel_tasks_aborted($1)', [id])
      await told(worker, 'aborted')
    }
  }
  for (const verb of ['cancel', 'reset'] as const) {
    expect(delays[verb]).toHaveLength(TRIES / 2)
    expect(median(delays[verb])).toBeLessThan(5_000)
    const longest = Math.max(...delays[verb])
    console.info(
      `${verb} → abort in another process: median ${median(delays[verb]).toFixed(1)} ms, longest ${longest.toFixed(1)} ms`,
    )
  }
})

it.each([
  ['cancel', 'canceled', 'canceled'],
  ['reset', 'reset', 'running'],
])('a %s in plain SQL aborts the signal', async (verb, reason, state) => {
  const table = `${verb}_in_sql`
  await createTaskType(pool, table)
  const worker = startWorker(table)
  const [id] = (await insertTasks(pool, table)) as [string]
  await told(worker, 'started')

  await pool.query(`select tasks.${verb}_tasks_${table}($1)`, [id])

  expect(await told(worker, 'aborted')).toMatchObject({ id, reason })
  // A task that was reset runs again: the handler that heard it has ended.
  if (verb === 'reset') await told(worker, 'started')
  expect(await readTask(pool, table, id)).toMatchObject({ state })
})

it('a cancel in a transaction is heard when it commits, and one that is rolled back never', async () => {
  await createTaskType(pool, 'in_transaction')
  const worker = startWorker('in_transaction')
  const [undone, done] = (await insertTasks(pool, 'in_transaction', 2)) as [string, string]
  await told(worker, 'started')
  await told(worker, 'started')
  const session = await database.client()
  await session.query('begin')
  await session.query('select tasks.cancel_tasks_in_transaction($1)', [undone])
  await session.query('rollback')
  await session.query('begin')
  await session.query('select tasks.cancel_tasks_in_transaction($1)', [done])
  await session.query('commit')
  expect(await told(worker, 'aborted')).toMatchObject({ id: done, reason: 'canceled' })
  expect(await readTask(pool, 'in_transaction', undone)).toMatchObject({ state: 'running' })
})
