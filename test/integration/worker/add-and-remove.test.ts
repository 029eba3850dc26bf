import { beforeAll, describe, expect, it } from 'vitest'
import { countStates, createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import { aborted, Latch, newWorker, startWorker, taskOf } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

describe('a running worker', () => {
  it('serves a type that is added, and leaves one that is removed', async () => {
    await createTaskType(database.pool, 'stays')
    await createTaskType(database.pool, 'comes_and_goes')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('stays'), 1])
    const task = taskOf('comes_and_goes')
    recorded.worker.add(task, 2)
    await insertTasks(database.pool, 'comes_and_goes', 3)
    await recorded.seen('finished', { count: 3 })
    await within(recorded.worker.remove(task), { timeoutMs: 2_000 })
    await insertTasks(database.pool, 'comes_and_goes')
    await insertTasks(database.pool, 'stays')
    await recorded.seen('finished', { count: 4 })
    expect(await countStates(database.pool, 'comes_and_goes')).toEqual({ finished: 3, ready: 1 })
    recorded.worker.add(task, 2)
    await recorded.seen('finished', { count: 5 })
  })

  it('serves a type that is added right after run(), once', async () => {
    await createTaskType(database.pool, 'added_at_once')
    await insertTasks(database.pool, 'added_at_once', 20)
    const recorded = newWorker({ connectionString: database.url })
    recorded.running = recorded.worker.run()
    let atOnce = 0
    let most = 0
    recorded.worker.add(
      taskOf('added_at_once', async () => {
        atOnce += 1
        most = Math.max(most, atOnce)
        await new Promise((resolve) => setTimeout(resolve, 5))
        atOnce -= 1
      }),
      1,
    )
    await recorded.seen('finished', { count: 20 })
    expect(most).toBe(1)
    expect(new Set(recorded.ids('finished')).size).toBe(20)
  })

  it('runs nothing twice where a type is added again while its removed one still ends', async () => {
    await createTaskType(database.pool, 'added_again', { timeout: '600 ms' })
    const [id] = await insertTasks(database.pool, 'added_again')
    const latch = new Latch()
    const runs: string[] = []
    const task = taskOf('added_again', async ({ id }, { signal }) => {
      runs.push(id)
      await Promise.race([latch.opened, aborted(signal)])
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    const removed = recorded.worker.remove(task)
    recorded.worker.add(task, 1)
    // Would make the second one's heart beat.
    await insertTasks(database.pool, 'added_again')
    // Long enough for a lease to end, and for a search for runs that nobody knows.
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select now() - started_at > interval '2 s' as over from tasks.added_again`,
      )
      return rows[0]?.over
    })
    expect(runs).toEqual([id])
    expect(recorded.of('lost')).toEqual([])
    latch.open()
    await within(removed, { timeoutMs: 2_000 })
    await recorded.seen('finished', { count: 2 })
    expect(runs).toHaveLength(2)
  })

  it('runs nothing twice where a type is removed and added again and again while its first one still ends', async () => {
    await createTaskType(database.pool, 'to_and_fro', { timeout: '600 ms' })
    const [id] = await insertTasks(database.pool, 'to_and_fro')
    const latch = new Latch()
    const runs: string[] = []
    const task = taskOf('to_and_fro', async ({ id }, { signal }) => {
      runs.push(id)
      await Promise.race([latch.opened, aborted(signal)])
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    const removed = [recorded.worker.remove(task)]
    for (let times = 0; times < 2; times += 1) {
      recorded.worker.add(task, 1)
      removed.push(recorded.worker.remove(task))
    }
    recorded.worker.add(task, 1)
    // As above.
    await insertTasks(database.pool, 'to_and_fro')
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select now() - started_at > interval '2 s' as over from tasks.to_and_fro`,
      )
      return rows[0]?.over
    })
    expect(runs).toEqual([id])
    expect(recorded.of('lost')).toEqual([])
    latch.open()
    await within(Promise.all(removed), { timeoutMs: 2_000 })
    await recorded.seen('finished', { count: 2 })
    expect(runs).toHaveLength(2)
  })

  it('stops the handlers of a type that was removed, added and removed again', async () => {
    await createTaskType(database.pool, 'removed_twice')
    await insertTasks(database.pool, 'removed_twice')
    const task = taskOf('removed_twice', async (_, { signal }) => {
      throw await aborted(signal)
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    void recorded.worker.remove(task)
    recorded.worker.add(task, 1)
    void recorded.worker.remove(task)
    await within(recorded.worker.stop({ timeoutMs: 0 }), { timeoutMs: 2_000 })
    expect(await countStates(database.pool, 'removed_twice')).toEqual({ ready: 1 })
  })

  it('resolves each remove of a type when its handlers have ended', async () => {
    await createTaskType(database.pool, 'asked_twice')
    await insertTasks(database.pool, 'asked_twice')
    const latch = new Latch()
    const task = taskOf('asked_twice', () => latch.opened)
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    const finished = [recorded.worker.remove(task), recorded.worker.remove(task)].map(async (removed) => {
      await removed
      return recorded.of('finished').length
    })
    latch.open()
    expect(await Promise.all(finished)).toEqual([1, 1])
  })

  it('tells a handler of a type that is being removed at once that its task was canceled', async () => {
    await createTaskType(database.pool, 'removed_and_canceled')
    const [id = ''] = await insertTasks(database.pool, 'removed_and_canceled')
    const task = taskOf('removed_and_canceled', (_, { signal }) => aborted(signal))
    const recorded = await startWorker({ connectionString: database.url, heartbeatIntervalMs: 20_000 }, [task, 1])
    await recorded.seen('started')
    const opened = recorded.worker.health().types[0]?.lease.renewedAt
    // The next heartbeat is far away.
    await waitFor(() => recorded.worker.health().types[0]?.lease.renewedAt?.getTime() !== opened?.getTime())
    const removed = recorded.worker.remove(task)
    await database.pool.query('select tasks.cancel_tasks_removed_and_canceled($1)', [id])
    await within(removed, { timeoutMs: 5_000 })
    expect(recorded.of('lost')).toMatchObject([{ id, reason: 'canceled' }])
  })

  it('stops at once although a removed type would have had more time', async () => {
    await createTaskType(database.pool, 'removed_slow')
    await insertTasks(database.pool, 'removed_slow')
    const task = taskOf('removed_slow', async (_, { signal }) => {
      throw await aborted(signal)
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    const removed = recorded.worker.remove(task)
    await within(recorded.worker.stop({ timeoutMs: 0 }), { timeoutMs: 2_000 })
    await within(removed, { timeoutMs: 500 })
    expect(await countStates(database.pool, 'removed_slow')).toEqual({ ready: 1 })
  })
})
