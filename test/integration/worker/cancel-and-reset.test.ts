import { LeaseLostError } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { aborted, Latch, startWorker, taskOf } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

// B-48, PEERS 17
describe('a running task that is canceled', () => {
  it('has its signal aborted in the process that runs it, in the median within 100 ms', async () => {
    await createTaskType(database.pool, 'canceled_elsewhere')
    const abortedAt = new Map<string, number>()
    const reasons: unknown[] = []
    const task = taskOf('canceled_elsewhere', async ({ id }, { signal }) => {
      reasons.push(await aborted(signal))
      abortedAt.set(id, performance.now())
      throw signal.reason
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const delays: number[] = []
    for (let round = 0; round < 21; round++) {
      const [id] = (await insertTasks(database.pool, 'canceled_elsewhere')) as [string]
      await recorded.seen('started', { where: (event) => event.id === id })
      const { rows } = await database.pool.query('select tasks.cancel_tasks_canceled_elsewhere($1) as found', [id])
      const canceledAt = performance.now()
      expect(rows).toEqual([{ found: 'running' }])
      await waitFor(() => abortedAt.has(id))
      delays.push((abortedAt.get(id) as number) - canceledAt)
    }
    const median = delays.toSorted((a, b) => a - b)[10] as number
    console.log(`from cancel to abort: median ${median.toFixed(1)} ms, longest ${Math.max(...delays).toFixed(1)} ms`)
    expect(median).toBeLessThan(100)
    expect(reasons[0]).toBeInstanceOf(LeaseLostError)
    expect(reasons[0]).toMatchObject({ reason: 'canceled' })
    await recorded.seen('lost', { count: 21 })
    expect(new Set(recorded.of('lost').map((event) => event.reason))).toEqual(new Set(['canceled']))
    expect([...recorded.of('retried'), ...recorded.of('error')]).toEqual([])
  })

  it('stays canceled although its handler returns as if nothing had happened', async () => {
    await createTaskType(database.pool, 'canceled_and_returned')
    const [id] = await insertTasks(database.pool, 'canceled_and_returned')
    const latch = new Latch()
    const task = taskOf('canceled_and_returned', () => latch.opened)
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    await database.pool.query(`select tasks.cancel_tasks_canceled_and_returned($1, comment => 'withdrawn')`, [id])
    await recorded.seen('lost')
    latch.open()
    await waitFor(() => recorded.worker.health().types[0]?.running === 0)
    await recorded.worker.stop()
    expect(await readTask(database.pool, 'canceled_and_returned', id as string)).toMatchObject({
      state: 'canceled',
      comment: 'withdrawn',
    })
    expect(recorded.of('finished')).toEqual([])
  })

  it('has its signal aborted also when it was canceled by the Task object that runs it', async () => {
    await createTaskType(database.pool, 'canceled_here')
    const [id] = await insertTasks(database.pool, 'canceled_here')
    let reason: unknown
    const task = taskOf('canceled_here', async (_, { signal }) => {
      reason = await aborted(signal)
      throw reason
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    expect(await task.cancel(database.pool, id as string)).toBe('running')
    await waitFor(() => reason)
    expect(reason).toMatchObject({ code: 'LEASE_LOST', reason: 'canceled' })
    await recorded.seen('canceled')
    expect(await readTask(database.pool, 'canceled_here', id as string)).toMatchObject({ state: 'canceled' })
  })

  it('is told by a heartbeat where no notification arrives', async () => {
    await createTaskType(database.pool, 'told_by_heartbeat', { timeout: '900 ms' })
    const [id] = await insertTasks(database.pool, 'told_by_heartbeat')
    const task = taskOf('told_by_heartbeat', async (_, { signal }) => {
      throw await aborted(signal)
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    await database.pool.query(
      `update tasks.told_by_heartbeat set canceled = true, run_token = null, run_worker = null where id = $1`,
      [id],
    )
    await recorded.seen('lost', { where: (event) => event.reason === 'canceled' })
  })
})

// PEERS 15
describe('a running task that is reset', () => {
  it('has its signal aborted, and runs again only when its old handler has ended', async () => {
    await createTaskType(database.pool, 'reset_while_running')
    const [id] = await insertTasks(database.pool, 'reset_while_running')
    const latch = new Latch()
    let atOnce = 0
    let most = 0
    let runs = 0
    const task = taskOf('reset_while_running', async (_, { signal }) => {
      runs += 1
      atOnce += 1
      most = Math.max(most, atOnce)
      if (runs === 1) {
        await aborted(signal)
        await latch.opened
      }
      atOnce -= 1
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 3])
    await recorded.seen('started')
    await database.pool.query('select tasks.reset_tasks_reset_while_running($1)', [id])
    await recorded.seen('lost', { where: (event) => event.reason === 'reset' })
    // This process has acquired it again, and keeps it back.
    await recorded.seen('acquired', { count: 2 })
    expect(runs).toBe(1)
    latch.open()
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id, attempt: 1 })
    expect({ runs, most }).toEqual({ runs: 2, most: 1 })
    expect(recorded.of('finished')).toHaveLength(1)
  })

  it('runs in another worker at once while the old handler still ends here', async () => {
    await createTaskType(database.pool, 'reset_elsewhere')
    const [id] = await insertTasks(database.pool, 'reset_elsewhere')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('reset_elsewhere', () => latch.opened),
      1,
    ])
    await recorded.seen('started')
    const other = await startWorker({ connectionString: database.url }, [taskOf('reset_elsewhere'), 1])
    await database.pool.query('select tasks.reset_tasks_reset_elsewhere($1)', [id])
    await other.seen('finished')
    latch.open()
    await waitFor(() => recorded.worker.health().types[0]?.running === 0)
    expect(await readTask(database.pool, 'reset_elsewhere', id as string)).toMatchObject({
      state: 'finished',
      run_worker: other.worker.id,
    })
  })
})

describe('a running task that is deleted', () => {
  it('has its signal aborted at the next heartbeat', async () => {
    await createTaskType(database.pool, 'deleted_while_running', { timeout: '900 ms' })
    const [id] = await insertTasks(database.pool, 'deleted_while_running')
    let reason: unknown
    const task = taskOf('deleted_while_running', async (_, { signal }) => {
      reason = await aborted(signal)
      throw reason
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    await database.pool.query('delete from tasks.deleted_while_running where id = $1', [id])
    await recorded.seen('lost', { where: (event) => event.reason === 'missing' })
    await waitFor(() => reason)
    expect(reason).toMatchObject({ reason: 'gone' })
  })
})

describe('a running task that an operator finishes in SQL', () => {
  it('has its signal aborted at the next heartbeat', async () => {
    await createTaskType(database.pool, 'finished_by_hand')
    const reasons: unknown[] = []
    const task = taskOf('finished_by_hand', async (_task, { signal }) => {
      reasons.push(await aborted(signal))
    })
    const options = { connectionString: database.url, heartbeatIntervalMs: 100 }
    const recorded = await startWorker(options, [task, 1])
    const [id] = await insertTasks(database.pool, 'finished_by_hand')
    await recorded.seen('started')
    await database.pool.query('select tasks.finish_tasks_finished_by_hand($1)', [id])
    expect((await recorded.seen('lost'))[0]).toMatchObject({ id, reason: 'finished' })
    await waitFor(() => reasons.length === 1)
    expect(reasons[0]).toMatchObject({ code: 'LEASE_LOST', reason: 'finished' })
  })
})
