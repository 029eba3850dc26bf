import { WorkerStoppingError } from '@pg-tasks/client'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { countStates, createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import { aborted, Latch, newWorker, startWorker, taskOf, workersAsleep } from './start-worker.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startProxy(database.url)
})

afterAll(() => proxy.close())

async function leases(table: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'select count(*)::int from tasks.leases where table_id = $1::regclass',
    [`tasks.${table}`],
  )
  return rows[0]?.count ?? -1
}

// B-47
describe('stop() in unusual moments', () => {
  it('resolves before run(), and run() resolves at once afterwards', async () => {
    await createTaskType(database.pool, 'never_run')
    const { worker } = newWorker({ connectionString: database.url }, [taskOf('never_run'), 1])
    await within(worker.stop(), { timeoutMs: 500 })
    await within(worker.run(), { timeoutMs: 500 })
    expect(worker.health().state).toBe('stopped')
  })

  it('resolves right after run(), which resolves too', async () => {
    await createTaskType(database.pool, 'hardly_run')
    await insertTasks(database.pool, 'hardly_run')
    const recorded = newWorker({ connectionString: database.url }, [taskOf('hardly_run'), 1])
    const running = recorded.worker.run()
    await within(recorded.worker.stop(), { timeoutMs: 2_000 })
    await within(running, { timeoutMs: 500 })
    expect(recorded.of('started')).toEqual([])
    expect(await countStates(database.pool, 'hardly_run')).toEqual({ ready: 1 })
  })

  it('resolves twice and in parallel, with nothing running', async () => {
    await createTaskType(database.pool, 'idle')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('idle'), 1])
    const { worker } = recorded
    await within(Promise.all([worker.stop(), worker.stop(), worker[Symbol.asyncDispose]()]), { timeoutMs: 1_000 })
    await within(worker.stop(), { timeoutMs: 100 })
    await within(recorded.running, { timeoutMs: 100 })
    expect(recorded.of('stopping')).toHaveLength(1)
    expect(recorded.of('stopped')).toHaveLength(1)
  })

  it('resolves with everything ended where it is called while it is told that the worker stops', async () => {
    await createTaskType(database.pool, 'stops_twice')
    await insertTasks(database.pool, 'stops_twice')
    const task = taskOf('stops_twice', async (_, { signal }) => {
      throw await aborted(signal)
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    const told: string[][] = []
    const tell = (): void => void told.push(recorded.events.map(({ name }) => name).slice(-2))
    const stopped = new Promise<void>((resolve) => {
      recorded.worker.once('stopping', () => resolve(recorded.worker.stop({ timeoutMs: 0 }).then(tell)))
    })
    await Promise.all([stopped, recorded.running.then(tell), recorded.worker.stop().then(tell)])
    expect(told).toEqual(Array.from({ length: 3 }, () => ['released', 'stopped']))
  })

  it('tells no error about the connections that it cuts off itself', async () => {
    await createTaskType(database.pool, 'cut_off')
    const recorded = await startWorker({ connectionString: proxy.url, pollIntervalMs: 100 }, [taskOf('cut_off'), 1])
    await workersAsleep(database.pool, 'cut_off')
    await proxy.blackhole()
    const before = recorded.of('error').length
    // The poll acquires, and its answer never comes.
    await waitFor(() => Date.now() - (recorded.worker.health().types[0]?.lastAcquireAt?.getTime() ?? Date.now()) > 300)
    await within(recorded.worker.stop({ timeoutMs: 100 }), { timeoutMs: 15_000 })
    await proxy.pass()
    // What is told late would come now.
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(recorded.of('error').slice(before)).toEqual([])
    expect(recorded.lines.filter(({ message }) => message.startsWith('Tasks could not be acquired'))).toEqual([])
  })

  it('is called at the end of an await using block', async () => {
    await createTaskType(database.pool, 'used')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('used'), 1])
    {
      await using worker = recorded.worker
      expect(worker.health().state).toBe('running')
    }
    expect(recorded.worker.health().state).toBe('stopped')
  })

  it.each<[string, (proxy: TestProxy) => Promise<void>]>([
    ['is down', (proxy) => proxy.down()],
    ['is silent', (proxy) => proxy.blackhole()],
  ])(
    'resolves soon while the database %s, even with a finished handler that can not be settled',
    async (how, breakIt) => {
      const table = `outage_${how.replace(' ', '_')}`
      await createTaskType(database.pool, table, { timeout: '2 s' })
      await insertTasks(database.pool, table, 3)
      const latch = new Latch()
      const recorded = await startWorker({ connectionString: proxy.url }, [taskOf(table, () => latch.opened), 2])
      try {
        await recorded.seen('started', { count: 2 })
        await breakIt(proxy)
        latch.open()
        await waitFor(() => recorded.worker.health().types[0]?.unsettled === 2)
        const began = performance.now()
        await within(recorded.worker.stop({ timeoutMs: 500 }), { timeoutMs: 10_000 })
        console.log(`stop() while the database ${how}: ${Math.round(performance.now() - began)} ms`)
        await within(recorded.running, { timeoutMs: 100 })
      } finally {
        await proxy.pass()
      }
      // Nothing is lost: the leases end.
      const other = await startWorker({ connectionString: database.url }, [taskOf(table), 3])
      await other.seen('finished', { count: 3 })
    },
  )

  it('resolves while it still tries to reach the database for the first time', async () => {
    await proxy.refuse()
    try {
      const recorded = newWorker({ connectionString: proxy.url }, [taskOf('idle'), 1])
      const running = recorded.worker.run()
      await recorded.seen('not_listening')
      await within(recorded.worker.stop(), { timeoutMs: 2_000 })
      await within(running, { timeoutMs: 500 })
    } finally {
      await proxy.pass()
    }
  })
})

describe('stop() with running handlers', () => {
  // B-46
  it('lets them end and writes their outcome, and takes nothing new', async () => {
    await createTaskType(database.pool, 'ending')
    const [id] = await insertTasks(database.pool, 'ending')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('ending', () => latch.opened), 2])
    await recorded.seen('started')
    const stopped = recorded.worker.stop()
    const [later] = await insertTasks(database.pool, 'ending')
    latch.open()
    await within(stopped, { timeoutMs: 2_000 })
    expect(recorded.ids('finished')).toEqual([id])
    expect(await readTask(database.pool, 'ending', id as string)).toMatchObject({ state: 'finished' })
    expect(await readTask(database.pool, 'ending', later as string)).toMatchObject({
      state: 'ready',
      execution_count: 0,
    })
    expect(await leases('ending')).toBe(0)
  })

  // PEERS 35
  it('aborts them after the timeout and gives their tasks back without costing an execution, once they have ended', async () => {
    await createTaskType(database.pool, 'aborting')
    const [id] = await insertTasks(database.pool, 'aborting')
    const latch = new Latch()
    let reason: unknown
    const task = taskOf('aborting', async (_, { signal }) => {
      reason = await aborted(signal)
      await latch.opened
      throw reason
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    const stopped = recorded.worker.stop({ timeoutMs: 50 })
    await waitFor(() => reason)
    expect(reason).toBeInstanceOf(WorkerStoppingError)
    expect(await readTask(database.pool, 'aborting', id as string)).toMatchObject({ state: 'running' })
    latch.open()
    await within(stopped, { timeoutMs: 2_000 })
    expect(recorded.ids('released')).toEqual([id])
    expect(await readTask(database.pool, 'aborting', id as string)).toMatchObject({
      state: 'ready',
      execution_count: 0,
      lost_count: 0,
      last_error: null,
    })
  })

  it('finishes the task of a handler that returns although it was aborted', async () => {
    await createTaskType(database.pool, 'in_time')
    const [id] = await insertTasks(database.pool, 'in_time')
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('in_time', (_, { signal }) => aborted(signal)),
      1,
    ])
    await recorded.seen('started')
    await within(recorded.worker.stop({ timeoutMs: 0 }), { timeoutMs: 2_000 })
    expect(recorded.ids('finished')).toEqual([id])
  })

  it('does not wait for a handler that heeds no signal beyond the grace; its task comes back by the lease', async () => {
    await createTaskType(database.pool, 'deaf', { timeout: '1 s' })
    const [id] = await insertTasks(database.pool, 'deaf')
    const latch = new Latch()
    let settled = false
    const task = taskOf('deaf', async (claimed, _, self) => {
      await latch.opened
      await expect(self.finish(database.pool, claimed)).rejects.toThrow(/not running|another|finished/)
      settled = true
    })
    const recorded = await startWorker({ connectionString: database.url, abortGraceMs: 100 }, [task, 1])
    await recorded.seen('started')
    await within(recorded.worker.stop({ timeoutMs: 50 }), { timeoutMs: 3_000 })
    expect(recorded.ids('overrun')).toEqual([id])
    const other = await startWorker({ connectionString: database.url }, [taskOf('deaf'), 1])
    const [event] = await other.seen('finished')
    expect(event).toMatchObject({ id, attempt: 2 })
    latch.open()
    await waitFor(() => settled)
  })

  it('hurries when it is called again with less time', async () => {
    await createTaskType(database.pool, 'hurry')
    const [id] = await insertTasks(database.pool, 'hurry')
    const task = taskOf('hurry', async (_, { signal }) => {
      throw await aborted(signal)
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('started')
    const patient = recorded.worker.stop({ timeoutMs: 30_000 })
    await within(recorded.worker.stop({ timeoutMs: 50 }), { timeoutMs: 2_000 })
    await within(patient, { timeoutMs: 100 })
    expect(recorded.ids('released')).toEqual([id])
  })

  // B-45
  it('releases unstarted tasks at once; they start in another worker within a second', async () => {
    await createTaskType(database.pool, 'unstarted', { timeout: '1 minute' })
    const latch = new Latch()
    let slow = false
    const task = taskOf('unstarted', async () => {
      if (slow) await latch.opened
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    // Quick ones teach the worker to take tasks ahead.
    await insertTasks(database.pool, 'unstarted', 500)
    await recorded.seen('finished', { count: 500 })
    const before = recorded.of('started').length
    slow = true
    await insertTasks(database.pool, 'unstarted', 50)
    await waitFor(() => recorded.of('started').length > before && (recorded.worker.health().types[0]?.queued ?? 0) > 0)
    const other = await startWorker({ connectionString: database.url }, [taskOf('unstarted'), 5])
    const began = performance.now()
    const stopped = recorded.worker.stop()
    await other.seen('finished', { count: 49 })
    const tookMs = performance.now() - began
    console.log(`unstarted tasks ran elsewhere ${Math.round(tookMs)} ms after stop()`)
    expect(tookMs).toBeLessThan(5_000)
    expect(new Set(other.of('finished').map((event) => event.attempt))).toEqual(new Set([1]))
    latch.open()
    await within(stopped, { timeoutMs: 2_000 })
    expect(await countStates(database.pool, 'unstarted')).toEqual({ finished: 550 })
  })

  it('gives back what an acquire under way brings', async () => {
    await createTaskType(database.pool, 'under_way')
    const recorded = await startWorker({ connectionString: proxy.url }, [taskOf('under_way'), 1])
    await workersAsleep(database.pool, 'under_way')
    await proxy.delay(150)
    try {
      const ids = await insertTasks(database.pool, 'under_way')
      await waitFor(async () => (await countStates(database.pool, 'under_way')).running === 1)
      await within(recorded.worker.stop(), { timeoutMs: 5_000 })
      expect(recorded.of('started')).toEqual([])
      expect(await readTask(database.pool, 'under_way', ids[0] as string)).toMatchObject({
        state: 'ready',
        execution_count: 0,
      })
    } finally {
      await proxy.pass()
    }
  })
})

describe('stop() during an acquire that goes on', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('leaves no timer behind', async () => {
    await createTaskType(database.pool, 'goes_on')
    await database.pool.query(`
      create function goes_on_trigger() returns trigger language plpgsql as 'begin perform pg_sleep(20); return new; end';
      create trigger own before update on tasks.goes_on for each row execute function goes_on_trigger()`)
    await insertTasks(database.pool, 'goes_on')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('goes_on'), 1])
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      )
      return rows.length === 1
    })
    const timers = liveTimers()
    await within(recorded.worker.stop({ timeoutMs: 0 }), { timeoutMs: 10_000 })
    // Those that were waited for besides something else elapse; one that is armed again and again would not.
    await waitFor(() => timers().length === 0)
  })
})

/** The timers that were made from now on and neither have elapsed nor were cancelled. */
function liveTimers(): () => readonly unknown[] {
  const live = new Set<unknown>()
  const { setTimeout: start, clearTimeout: cancel } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((onElapsed: () => void, delayMs = 0) => {
    const timer = start(() => {
      live.delete(timer)
      onElapsed()
    }, delayMs)
    live.add(timer)
    return timer
  }) as typeof setTimeout)
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    live.delete(timer)
    cancel(timer)
  })
  return () => [...live]
}

describe('stop() of a worker with a pool of its user', () => {
  // B-55
  it('never ends the pool of its user', async () => {
    await createTaskType(database.pool, 'with_pool')
    await insertTasks(database.pool, 'with_pool')
    const recorded = await startWorker({ pool: database.pool }, [taskOf('with_pool'), 1])
    await recorded.seen('finished')
    await recorded.worker.stop()
    await expect(database.pool.query('select 1 as one')).resolves.toMatchObject({ rows: [{ one: 1 }] })
  })
})
