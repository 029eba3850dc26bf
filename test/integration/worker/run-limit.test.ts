import { RunLimitError } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { aborted, Latch, startWorker, taskOf } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

describe('a handler that runs longer than the limit of its type', () => {
  it('has its signal aborted and is retried with that as reason', async () => {
    await createTaskType(database.pool, 'heeds', { runLimit: '200 ms', maxRetries: 1, backoffBase: '10 ms' })
    const [id] = await insertTasks(database.pool, 'heeds')
    const reasons: unknown[] = []
    const task = taskOf('heeds', async (_, { signal }) => {
      reasons.push(await aborted(signal))
      throw new Error('whatever it makes of that')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const [event] = await recorded.seen('failed')
    expect(event).toMatchObject({ id, attempt: 2, reason: 'run_limit' })
    expect(event.error).toBeInstanceOf(RunLimitError)
    expect(reasons[0]).toBeInstanceOf(RunLimitError)
    expect(await readTask(database.pool, 'heeds', id as string)).toMatchObject({ failure_reason: 'run_limit' })
    expect(recorded.of('overrun')).toEqual([])
  })

  it('is finished if it returns all the same, within the grace', async () => {
    await createTaskType(database.pool, 'returns_late', { runLimit: '100 ms' })
    await insertTasks(database.pool, 'returns_late')
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('returns_late', (_, { signal }) => aborted(signal)),
      1,
    ])
    await recorded.seen('finished')
    expect(recorded.of('retried')).toEqual([])
  })

  // B-49: never settles
  it('loses its task after the grace but not its slot, is reported, and its task runs elsewhere', async () => {
    await createTaskType(database.pool, 'never_ends', { runLimit: '100 ms', backoffBase: '10 ms' })
    const [id] = await insertTasks(database.pool, 'never_ends')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url, abortGraceMs: 100 }, [
      taskOf('never_ends', () => latch.opened),
      1,
    ])
    const [overrun] = await recorded.seen('overrun')
    expect(overrun).toMatchObject({ id, attempt: 1 })
    expect(overrun.durationMs).toBeGreaterThanOrEqual(190)
    await recorded.seen('retried')
    const other = await startWorker({ connectionString: database.url }, [taskOf('never_ends'), 1])
    const [event] = await other.seen('finished')
    expect(event).toMatchObject({ id, attempt: 2 })
    // Its slot is still taken.
    const [later] = await insertTasks(database.pool, 'never_ends')
    await other.seen('finished', { count: 2 })
    expect(recorded.ids('started')).toEqual([id])
    await other.worker.stop()
    latch.open()
    const [last] = await insertTasks(database.pool, 'never_ends')
    await recorded.seen('started', { count: 2 })
    expect(recorded.ids('started')).toEqual([id, last])
    expect(later).not.toBe(last)
    await waitFor(() => recorded.ids('finished').includes(last as string))
    expect(recorded.ids('finished')).toEqual([last])
  })

  it('is not joined by a second run of its task in the same process', async () => {
    await createTaskType(database.pool, 'parked', { runLimit: '100 ms', backoffBase: '10 ms' })
    const [id] = await insertTasks(database.pool, 'parked')
    const latch = new Latch()
    let atOnce = 0
    let most = 0
    const task = taskOf('parked', async (claimed, { attempt }) => {
      if (claimed.id !== id) return
      atOnce += 1
      most = Math.max(most, atOnce)
      if (attempt === 1) await latch.opened
      atOnce -= 1
    })
    const recorded = await startWorker({ connectionString: database.url, abortGraceMs: 50 }, [task, 3])
    await recorded.seen('acquired', { count: 2 })
    // Others go on meanwhile.
    await insertTasks(database.pool, 'parked', 5)
    await recorded.seen('finished', { count: 5 })
    expect(recorded.of('started').filter((event) => event.id === id)).toHaveLength(1)
    latch.open()
    await recorded.seen('finished', { count: 6 })
    expect(recorded.of('finished').at(-1)).toMatchObject({ id, attempt: 2 })
    expect(most).toBe(1)
  })

  it('gives a parked task back when the worker stops', async () => {
    await createTaskType(database.pool, 'parked_and_stopped', { runLimit: '50 ms', backoffBase: '10 ms' })
    const [id] = await insertTasks(database.pool, 'parked_and_stopped')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url, abortGraceMs: 50 }, [
      taskOf('parked_and_stopped', () => latch.opened),
      2,
    ])
    await recorded.seen('acquired', { count: 2 })
    await recorded.worker.stop({ timeoutMs: 0 })
    expect(await readTask(database.pool, 'parked_and_stopped', id as string)).toMatchObject({
      state: 'ready',
      execution_count: 1,
    })
    latch.open()
  })
})
