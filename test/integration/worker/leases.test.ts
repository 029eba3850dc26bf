import { inTransaction, LeaseLostError, Worker } from '@pg-tasks/client'
import { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { countStates, createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { aborted, Latch, type RecordedWorker, startWorker, taskOf, workersAsleep } from './start-worker.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startProxy(database.url)
})

afterAll(() => proxy.close())

/** Waits until that many seconds have gone by since the task was acquired, by the database's clock. */
function runsFor(table: string, id: string, seconds: number): Promise<unknown> {
  return waitFor(
    async () => {
      const { rows } = await database.pool.query<{ over: boolean }>(
        `select clock_timestamp() - started_at > make_interval(secs => $2) as over from tasks.${table} where id = $1`,
        [id, seconds],
      )
      return rows[0]?.over
    },
    { timeoutMs: seconds * 1_000 + 5_000 },
  )
}

describe('a handler that runs longer than the lease', () => {
  it('keeps its task by heartbeats, although another worker waits for it', async () => {
    await createTaskType(database.pool, 'long', { timeout: '600 ms' })
    const [id] = await insertTasks(database.pool, 'long')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('long', () => latch.opened), 1])
    await recorded.seen('started')
    const other = await startWorker({ connectionString: database.url }, [taskOf('long'), 1])
    await runsFor('long', id as string, 2)
    latch.open()
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id, attempt: 1 })
    expect([...other.of('started'), ...other.of('rescued'), ...recorded.of('lost')]).toEqual([])
  })

  it('keeps it while handlers use up the pool that the worker was given', async () => {
    await createTaskType(database.pool, 'pool_used_up', { timeout: '600 ms' })
    const [id] = await insertTasks(database.pool, 'pool_used_up')
    const pool = new Pool({ connectionString: database.url, max: 1 })
    pool.on('error', () => {})
    const latch = new Latch()
    const task = taskOf('pool_used_up', async (claimed, _, self) => {
      await inTransaction(pool, async (tx) => {
        await latch.opened
        await self.finish(tx, claimed)
      })
    })
    const recorded = await startWorker({ pool }, [task, 1])
    await recorded.seen('started')
    const other = await startWorker({ connectionString: database.url }, [taskOf('pool_used_up'), 1])
    await runsFor('pool_used_up', id as string, 2)
    latch.open()
    await recorded.seen('finished')
    expect(other.of('started')).toEqual([])
    await pool.end()
  })

  it('keeps it when the timeout of the type is shortened meanwhile', async () => {
    await createTaskType(database.pool, 'shortened', { timeout: '1 minute' })
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('shortened', async (_, { signal }) => Promise.race([latch.opened, aborted(signal)])),
      1,
    ])
    const latch = new Latch()
    await database.pool.query(`select tasks.configure('tasks', 'shortened', 'timeout', '1500 ms')`)
    const [id] = await insertTasks(database.pool, 'shortened')
    await recorded.seen('started')
    const other = await startWorker({ connectionString: database.url }, [taskOf('shortened'), 1])
    await runsFor('shortened', id as string, 4)
    latch.open()
    await recorded.seen('finished')
    expect([...other.of('started'), ...recorded.of('lost')]).toEqual([])
  })

  // B-33, B-37
  it('does not have its row touched by heartbeats', async () => {
    await createTaskType(database.pool, 'untouched', { timeout: '300 ms' })
    const [id] = await insertTasks(database.pool, 'untouched')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('untouched', () => latch.opened), 1])
    await recorded.seen('started')
    const version = async () => (await database.pool.query('select xmin::text, ctid::text from tasks.untouched')).rows
    const before = await version()
    await runsFor('untouched', id as string, 1)
    expect(await version()).toEqual(before)
    latch.open()
    await recorded.seen('finished')
  })
})

// B-41
describe('heartbeats that fail', () => {
  /** Makes every renewal of a lease of that type fail. */
  async function breakHeartbeats(table: string): Promise<void> {
    await database.pool.query(`
      create function break_${table}() returns trigger language plpgsql as $$ begin raise exception 'no renewal'; end $$;
      create trigger break_${table} before update on tasks.leases for each row
      when (new.table_id = 'tasks.${table}'::regclass) execute function break_${table}();`)
  }

  async function mendHeartbeats(table: string): Promise<void> {
    await database.pool.query(`drop function break_${table}() cascade`)
  }

  it('for less than a lease are repeated until they succeed; nothing is lost and nothing crashes', async () => {
    await createTaskType(database.pool, 'beats_fail', { timeout: '3 s' })
    const [id] = await insertTasks(database.pool, 'beats_fail')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('beats_fail', () => latch.opened),
      1,
    ])
    await recorded.seen('started')
    await breakHeartbeats('beats_fail')
    await recorded.seen('error', { where: (error) => /no renewal/.test(error.message) })
    await mendHeartbeats('beats_fail')
    const other = await startWorker({ connectionString: database.url }, [taskOf('beats_fail'), 1])
    await runsFor('beats_fail', id as string, 4)
    latch.open()
    await recorded.seen('finished')
    expect([...other.of('started'), ...recorded.of('lost')]).toEqual([])
  })

  it('for longer than a lease do no harm while nobody takes the task', async () => {
    await createTaskType(database.pool, 'nobody_takes', { timeout: '300 ms' })
    const [id] = await insertTasks(database.pool, 'nobody_takes')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('nobody_takes', () => latch.opened),
      1,
    ])
    await recorded.seen('started')
    await breakHeartbeats('nobody_takes')
    await runsFor('nobody_takes', id as string, 1.5)
    await mendHeartbeats('nobody_takes')
    latch.open()
    await recorded.seen('finished')
    expect(await readTask(database.pool, 'nobody_takes', id as string)).toMatchObject({ execution_count: 1 })
  })

  it('go on after the heartbeat connection was terminated', async () => {
    await createTaskType(database.pool, 'beats_cut', { timeout: '1 s' })
    const [id] = await insertTasks(database.pool, 'beats_cut')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('beats_cut', () => latch.opened), 1])
    await recorded.seen('started')
    for (const seconds of [0.5, 1, 1.5, 2]) {
      await runsFor('beats_cut', id as string, seconds)
      await database.pool.query(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%heartbeat%' and pid <> pg_backend_pid()`)
    }
    await runsFor('beats_cut', id as string, 3)
    latch.open()
    await recorded.seen('finished')
    expect(recorded.of('lost')).toEqual([])
  })
})

// B-39 in one process; test/acceptance has it with real ones
describe('a run whose lease is over', () => {
  it('may still finish as long as nobody took its task', async () => {
    await createTaskType(database.pool, 'still_finishes', { timeout: '300 ms' })
    const [id] = await insertTasks(database.pool, 'still_finishes')
    const task = taskOf('still_finishes')
    const [claimed] = await task.acquire(database.pool)
    await runsFor('still_finishes', id as string, 0.5)
    await task.finish(database.pool, claimed as never)
    expect(await readTask(database.pool, 'still_finishes', id as string)).toMatchObject({ state: 'finished' })
  })

  it('loses its task to another worker: its signal is aborted, its transaction refused, its writes are gone', async () => {
    await createTaskType(database.pool, 'taken_over', { timeout: '600 ms' })
    await database.pool.query('create table effects (attempt int)')
    const [id] = await insertTasks(database.pool, 'taken_over')
    const latch = new Latch()
    const outcomes: unknown[] = []
    let reason: unknown
    const task = taskOf('taken_over', async (claimed, { signal, attempt }, self) => {
      if (attempt === 1) {
        reason = await aborted(signal)
        await latch.opened
      }
      const outcome = await inTransaction(database.pool, async (tx) => {
        await tx.query('insert into effects values ($1)', [attempt])
        await self.finish(tx, claimed)
      }).catch((error: unknown) => error)
      outcomes.push(outcome)
      if (outcome !== undefined) throw outcome
    })
    const recorded = await startWorker({ connectionString: proxy.url }, [task, 1])
    await recorded.seen('started')
    // Its heartbeats are swallowed until the other one has the task.
    await proxy.hold()
    const other = await startWorker({ connectionString: database.url }, [task, 1])
    await other.seen('finished')
    expect(other.of('rescued')).toEqual([{ schema: 'tasks', table: 'taken_over', count: 1 }])
    await proxy.pass()
    await recorded.seen('lost', { timeoutMs: 20_000 })
    expect(reason).toBeInstanceOf(LeaseLostError)
    latch.open()
    await waitFor(() => outcomes.length === 2)
    expect(outcomes).toEqual([undefined, expect.objectContaining({ code: 'TASK_NOT_RUNNING' })])
    expect((await database.pool.query('select attempt from effects')).rows).toEqual([{ attempt: 2 }])
    expect(recorded.of('finished')).toEqual([])
    expect(await readTask(database.pool, 'taken_over', id as string)).toMatchObject({
      execution_count: 2,
      lost_count: 1,
    })
  })
})

describe('a worker that never had the answer to its acquire', () => {
  afterEach(() => proxy.pass())

  /** Cuts the connection at the rows that an acquire has claimed; one that finds nothing passes. */
  const cutAnswer = ({ worker }: RecordedWorker): Promise<void> =>
    proxy.cutWhen((data, direction) => direction === 'down' && data.includes(worker.id))

  it('gives back what it does not know, without counting an execution', async () => {
    await createTaskType(database.pool, 'strays', { timeout: '2 s' })
    const recorded = await startWorker({ connectionString: proxy.url }, [taskOf('strays'), 5])
    await workersAsleep(database.pool, 'strays')
    const cut = cutAnswer(recorded)
    const ids = await insertTasks(database.pool, 'strays', 3)
    await cut
    await waitFor(async () => (await countStates(database.pool, 'strays')).running === 3)
    const began = performance.now()
    await recorded.seen('finished', { count: 3 })
    console.log(`strays ran ${Math.round(performance.now() - began)} ms after their acquire, with a lease of 2000 ms`)
    expect(recorded.ids('finished').toSorted()).toEqual(ids)
    expect(recorded.of('finished').map((event) => event.attempt)).toEqual([1, 1, 1])
    expect(recorded.of('rescued')).toEqual([])
  })

  it('leaves them to its lease when it dies before it has found them', async () => {
    await createTaskType(database.pool, 'strays_of_the_dead', { timeout: '1 s' })
    const recorded = await startWorker({ connectionString: proxy.url }, [taskOf('strays_of_the_dead'), 5])
    await workersAsleep(database.pool, 'strays_of_the_dead')
    const cut = cutAnswer(recorded)
    await insertTasks(database.pool, 'strays_of_the_dead', 3)
    await cut
    await recorded.worker.stop({ timeoutMs: 0 })
    const other = await startWorker({ connectionString: database.url }, [taskOf('strays_of_the_dead'), 5])
    await other.seen('finished', { count: 3 })
  })
})

describe('an idle worker', () => {
  it('has no lease, beats no more, and takes the lease up again', async () => {
    await createTaskType(database.pool, 'comes_to_rest', { timeout: '600 ms' })
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('comes_to_rest'), 1])
    for (let round = 1; round <= 3; round++) {
      await insertTasks(database.pool, 'comes_to_rest')
      await recorded.seen('finished', { count: round })
      await waitFor(async () => {
        const { rows } = await database.pool.query(
          `select from tasks.leases where worker_id = $1 and table_id = 'tasks.comes_to_rest'::regclass`,
          [recorded.worker.id],
        )
        return rows.length === 0
      })
    }
  })
})

it('each start of a worker has an identity of its own', () => {
  const workers = [1, 2].map(() => new Worker({ connectionString: database.url }))
  expect(new Set(workers.map((worker) => worker.id)).size).toBe(2)
})
