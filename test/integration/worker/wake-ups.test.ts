import { RetryTask } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { Latch, startWorker, taskOf, workersAsleep } from './start-worker.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

/** Milliseconds between two instants of the database's clock. */
async function latenessMs(table: string, id: string): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    `select 1000 * extract(epoch from started_at - greatest(planned_to, created_at))::float8 as ms from tasks.${table} where id = $1`,
    [id],
  )
  return rows[0]?.ms ?? Number.NaN
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] as number).toFixed(1)
  return `median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)} ms`
}

// The poll stands at 60 s, so that nothing here can be its doing.
describe('an idle worker', () => {
  it('starts a task that is inserted', async () => {
    await createTaskType(database.pool, 'inserted')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('inserted'), 1])
    await workersAsleep(database.pool, 'inserted')
    const delays: number[] = []
    for (let round = 1; round <= 50; round++) {
      const [id] = (await insertTasks(database.pool, 'inserted')) as [string]
      await recorded.seen('finished', { count: round })
      delays.push(await latenessMs('inserted', id))
    }
    console.log(`from insert to start: ${spread(delays)}`)
    expect(Math.max(...delays)).toBeLessThan(2_000)
  })

  it('starts a task when it is due', async () => {
    await createTaskType(database.pool, 'planned')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('planned'), 1])
    await workersAsleep(database.pool, 'planned')
    const task = taskOf('planned')
    const delays: number[] = []
    for (const delayMs of [300, 700, 2_000]) {
      const before = recorded.of('finished').length
      const id = await task.enqueue(database.pool, {}, { delayMs })
      await recorded.seen('finished', { count: before + 1 })
      delays.push(await latenessMs('planned', id))
    }
    console.log(`lateness of planned tasks: ${delays.map((ms) => ms.toFixed(1)).join(', ')} ms`)
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...delays)).toBeLessThan(1_000)
  })

  it('starts a task that is re-planned to an earlier time', async () => {
    await createTaskType(database.pool, 'replanned')
    await database.pool.query(`insert into tasks.replanned (planned_to) values (now() + interval '1 hour')`)
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('replanned'), 1])
    await workersAsleep(database.pool, 'replanned')
    await database.pool.query(`update tasks.replanned set planned_to = clock_timestamp() + interval '200 ms'`)
    await recorded.seen('finished', { timeoutMs: 5_000 })
    expect(await latenessMs('replanned', '1')).toBeLessThan(2_000)
  })

  it('starts a task that is reset, released, or retried without delay by somebody else', async () => {
    await createTaskType(database.pool, 'made_ready')
    const task = taskOf('made_ready')
    const ids = await insertTasks(database.pool, 'made_ready', 2)
    const claimed = await task.acquire(database.pool, 2)
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await workersAsleep(database.pool, 'made_ready')
    await task.reset(database.pool, ids[0] as string)
    await recorded.seen('finished', { count: 1, timeoutMs: 5_000 })
    await workersAsleep(database.pool, 'made_ready')
    await task.retry(database.pool, claimed[1] as never, { delayMs: 0 })
    await recorded.seen('finished', { count: 2, timeoutMs: 5_000 })
  })

  // B-15
  it('starts a task that another worker retries while it stops', async () => {
    await createTaskType(database.pool, 'handed_over')
    await insertTasks(database.pool, 'handed_over')
    const latch = new Latch()
    const first = await startWorker({ connectionString: database.url }, [
      taskOf('handed_over', async () => {
        await latch.opened
        throw new RetryTask({ delayMs: 0 })
      }),
      1,
    ])
    await first.seen('started')
    const second = await startWorker({ connectionString: database.url }, [taskOf('handed_over'), 1])
    await workersAsleep(database.pool, 'handed_over')
    const stopped = first.worker.stop()
    latch.open()
    await stopped
    const [event] = await second.seen('finished', { timeoutMs: 5_000 })
    expect(event).toMatchObject({ attempt: 2 })
  })

  // B-57
  it('does not spin, nor start early, for tasks that are due in 40 or 1,000 days', async () => {
    await createTaskType(database.pool, 'far_ahead')
    await database.pool.query(`alter database ${database.name} set track_functions = 'pl'`)
    await database.pool.query(
      `insert into tasks.far_ahead (planned_to) values (now() + interval '40 days'), (now() + interval '1000 days'), ('infinity')`,
    )
    const recorded = await startWorker({ connectionString: database.url, pollIntervalMs: 2 ** 31 - 1 }, [
      taskOf('far_ahead'),
      1,
    ])
    await workersAsleep(database.pool, 'far_ahead')
    await insertTasks(database.pool, 'far_ahead')
    await recorded.seen('finished')
    await workersAsleep(database.pool, 'far_ahead')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await recorded.worker.stop()
    const calls = await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select calls from pg_stat_user_functions where funcname = 'acquire_tasks_far_ahead'`,
      )
      return Number(rows[0]?.calls ?? 0)
    })
    expect(calls).toBeLessThan(20)
    expect(recorded.of('started')).toHaveLength(1)
  })

  it('starts a due task although another one is due that can not be taken', async () => {
    await createTaskType(database.pool, 'behind_a_locked_one')
    const [locked] = await insertTasks(database.pool, 'behind_a_locked_one')
    const client = await database.client()
    await client.query('begin')
    await client.query('select from tasks.behind_a_locked_one for update')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('behind_a_locked_one'), 1])
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const id = await taskOf('behind_a_locked_one').enqueue(database.pool, {}, { delayMs: 300 })
    await recorded.seen('finished', { timeoutMs: 8_000 })
    const lateMs = await latenessMs('behind_a_locked_one', id)
    console.log(`lateness beside a locked task: ${lateMs.toFixed(1)} ms`)
    expect(lateMs).toBeLessThan(700)
    await client.query('commit')
    await recorded.seen('finished', { count: 2 })
    expect(recorded.ids('finished')).toEqual([id, locked])
  })

  it('starts a task whose transaction was open before the worker fell asleep', async () => {
    await createTaskType(database.pool, 'late_commit')
    const client = await database.client()
    await client.query('begin')
    await client.query('insert into tasks.late_commit (trace_id) values (null)')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('late_commit'), 1])
    await waitFor(() => recorded.worker.health().types[0]?.asleep)
    // A planned one is on time meanwhile.
    const id = await taskOf('late_commit').enqueue(database.pool, {}, { delayMs: 2_300 })
    await recorded.seen('finished')
    console.log(`lateness beside an open transaction: ${(await latenessMs('late_commit', id)).toFixed(1)} ms`)
    expect(await latenessMs('late_commit', id)).toBeLessThan(500)
    await client.query('commit')
    await recorded.seen('finished', { count: 2, timeoutMs: 5_000 })
  })
})

describe('where notifications do not arrive', () => {
  it('tasks are found by the poll: their type notifies nobody', async () => {
    await createTaskType(database.pool, 'silent', { notify: false })
    const recorded = await startWorker({ connectionString: database.url, pollIntervalMs: 300 }, [taskOf('silent'), 1])
    await workersAsleep(database.pool, 'silent')
    await insertTasks(database.pool, 'silent', 3)
    await recorded.seen('finished', { count: 3, timeoutMs: 3_000 })
  })

  // B-17
  it('tasks are found by the poll: their rows came by replication', async () => {
    await createTaskType(database.pool, 'replicated')
    const recorded = await startWorker({ connectionString: database.url, pollIntervalMs: 300 }, [
      taskOf('replicated'),
      1,
    ])
    await workersAsleep(database.pool, 'replicated')
    await database.pool.query(
      'set session_replication_role = replica; insert into tasks.replicated (trace_id) values (null); reset session_replication_role',
    )
    await recorded.seen('finished', { timeoutMs: 3_000 })
  })

  it('tasks are found although the session that holds the sleep lock was terminated and another worker is busy', async () => {
    await createTaskType(database.pool, 'lock_lost')
    const idle = await startWorker({ connectionString: database.url, applicationName: 'idle' }, [
      taskOf('lock_lost'),
      5,
    ])
    await workersAsleep(database.pool, 'lock_lost')
    const sleepers = async () =>
      (
        await database.pool.query<{ pid: number }>(`
          select a.pid from pg_locks l join pg_stat_activity a using (pid)
          where l.locktype = 'advisory' and l.classid = 1886415982 and l.objid = 'tasks.lock_lost'::regclass
            and a.application_name = 'idle'`)
      ).rows.map((row) => row.pid)
    const [before] = await sleepers()
    await database.pool.query('select pg_terminate_backend($1)', [before])
    await waitFor(async () => {
      const now = await sleepers()
      return now.length === 1 && now[0] !== before
    })
    await insertTasks(database.pool, 'lock_lost')
    await idle.seen('finished')
  })
})

// B-03
describe('a listener whose session is ended', () => {
  it('overlooks nothing that was announced before it listens again', async () => {
    await createTaskType(database.pool, 'gap')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('gap'), 5])
    await workersAsleep(database.pool, 'gap')
    await database.pool.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'pg-tasks worker' and query ilike '%pg_tasks_ping%';
      ${'insert into tasks.gap (trace_id) values (null);'.repeat(20)}`)
    await recorded.seen('finished', { count: 20, timeoutMs: 10_000 })
    await recorded.seen('not_listening')
    await recorded.seen('listening', { count: 2 })
  })
})

// B-09
describe('several workers', () => {
  it('all take part when two statements of one transaction bring tasks for all of their slots', async () => {
    await createTaskType(database.pool, 'for_all')
    const latch = new Latch()
    const workers = await Promise.all(
      [1, 2, 3, 4].map(() =>
        startWorker({ connectionString: database.url }, [taskOf('for_all', () => latch.opened), 5]),
      ),
    )
    await workersAsleep(database.pool, 'for_all', 4)
    await database.pool.query(`begin;
      insert into tasks.for_all (trace_id) select null from generate_series(1, 50);
      insert into tasks.for_all (trace_id) select null from generate_series(1, 50);
      commit`)
    await Promise.all(workers.map((worker) => worker.seen('started', { count: 5, timeoutMs: 5_000 })))
    latch.open()
    await waitFor(() => workers.reduce((sum, worker) => sum + worker.of('finished').length, 0) === 100)
    const ids = workers.flatMap((worker) => worker.ids('finished'))
    expect(new Set(ids).size).toBe(100)
    expect((await readTask(database.pool, 'for_all', '1')).execution_count).toBe(1)
  })
})
