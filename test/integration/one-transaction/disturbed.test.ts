import { ChangedMeanwhileError } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { startProxy } from '../../support/proxy.js'
import { countStates, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { waitUntilBlocked } from '../sql/wait-until-blocked.js'
import { Latch, startWorker } from '../worker/start-worker.js'
import { Book, bookingsOf, createBookings, createPayments } from './transaction-task.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createBookings(database.pool)
})

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** The first run of the task with this amount waits until it is let go on; says when it has begun. */
function stopAt(table: string, amount: number) {
  const [begun, goOn] = [new Latch(), new Latch()]
  let first = true
  const task = new Book(table, async (row) => {
    if (row.amount !== amount || !first) return
    first = false
    begun.open()
    await goOn.opened
  })
  return { task, begun, goOn }
}

async function executions(table: string): Promise<string[]> {
  const rows = await readTasks(database.pool, table)
  return [...new Set(rows.map(({ state, execution_count }) => `${state} ${execution_count}`))]
}

it('whoever cancels or resets a task of a batch waits for it, and is told what came of it', async () => {
  await createPayments(database.pool, 'operated', 5)
  const { task, begun, goOn } = stopAt('operated', 3)
  const recorded = await startWorker({ connectionString: database.url }, [task, 10])
  // The first task of a worker runs singly: it has looked for those that must.
  await begun.opened
  expect((await readTasks(database.pool, 'operated')).at(-1)?.state).toBe('ready')
  const [canceling, resetting] = [await database.client(), await database.client()]
  const canceled = task.cancel(canceling, '5')
  const reset = task.reset(resetting, '4').catch((error: unknown) => error)
  await Promise.all([waitUntilBlocked(database.pool, canceling), waitUntilBlocked(database.pool, resetting)])
  goOn.open()
  expect(await canceled).toBe('finished')
  expect(await reset).toBeInstanceOf(ChangedMeanwhileError)
  await recorded.seen('finished', { count: 5 })
})

it('a stop lets the task that runs end, commits what is done and gives the rest back uncounted', async () => {
  await createPayments(database.pool, 'stopped', 6)
  const { task, begun, goOn } = stopAt('stopped', 4)
  const recorded = await startWorker({ connectionString: database.url }, [task, 10])
  await begun.opened
  const stopped = recorded.worker.stop({ timeoutMs: 10_000 })
  goOn.open()
  await stopped
  expect(
    (await readTasks(database.pool, 'stopped')).map(({ state, execution_count }) => `${state} ${execution_count}`),
  ).toEqual([...Array(4).fill('finished 1'), ...Array(2).fill('ready 0')])
  expect((await bookingsOf(database.pool, 'stopped')).amounts).toEqual([1, 2, 3, 4])
  expect(recorded.ids('released')).toEqual(['5', '6'])
  expect((await database.pool.query('select * from tasks.batches')).rows).toEqual([])
})

it('a stop runs nothing again that a failure took back: it goes back uncounted', async () => {
  await createPayments(database.pool, 'stopped_at_failure', 6)
  const [begun, goOn] = [new Latch(), new Latch()]
  const task = new Book('stopped_at_failure', async ({ amount }) => {
    if (amount !== 4) return
    begun.open()
    await goOn.opened
    throw new Error('Not this one')
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 10])
  await begun.opened
  const stopped = recorded.worker.stop({ timeoutMs: 10_000 })
  goOn.open()
  await stopped
  expect(task.seen).toEqual(['1', '2', '3', '4'])
  const rows = await readTasks(database.pool, 'stopped_at_failure')
  expect(rows.map(({ state, execution_count }) => `${state} ${execution_count}`)).toEqual([
    'finished 1',
    'ready 0',
    'ready 0',
    'scheduled 1',
    'ready 0',
    'ready 0',
  ])
  expect((await bookingsOf(database.pool, 'stopped_at_failure')).amounts).toEqual([1])
})

it('a stop without patience rolls back what a deaf handler holds up, and makes no suspects', async () => {
  await createPayments(database.pool, 'deaf', 6)
  const { task, begun, goOn } = stopAt('deaf', 4)
  const recorded = await startWorker({ connectionString: database.url, abortGraceMs: 50 }, [task, 10])
  await begun.opened
  await recorded.worker.stop({ timeoutMs: 0 })
  goOn.open()
  const rows = await readTasks(database.pool, 'deaf')
  expect(
    new Set(rows.slice(3).map(({ state, execution_count, lost_count }) => `${state} ${execution_count} ${lost_count}`)),
  ).toEqual(new Set(['ready 0 0']))
  expect((await database.pool.query('select * from tasks.batches')).rows).toEqual([])
})

describe('a lost connection', () => {
  it('in mid-batch rolls all of it back; then each runs singly, and every execution is counted once', async () => {
    await createPayments(database.pool, 'cut', 12)
    const { task, begun, goOn } = stopAt('cut', 6)
    const recorded = await startWorker({ connectionString: database.url }, [task, 20])
    await begun.opened
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and datname = current_database()`,
    )
    goOn.open()
    await recorded.seen('finished', { count: 12 })
    expect((await bookingsOf(database.pool, 'cut')).amounts).toEqual(numbers(12))
    expect(await executions('cut')).toEqual(['finished 1'])
  })

  it('at the commit, whose answer is lost, runs nothing twice', async () => {
    await createPayments(database.pool, 'answer', 12)
    const proxy = await startProxy(database.url)
    let cut: Promise<unknown> | undefined
    const task = new Book('answer', ({ amount }) => {
      if (amount !== 12) return
      cut ??= proxy.cutWhen((data, direction) => direction === 'up' && data.includes('commit'), { deliver: true })
    })
    const recorded = await startWorker({ connectionString: proxy.url }, [task, 20])
    await waitFor(async () => (await countStates(database.pool, 'answer')).finished === 12, { timeoutMs: 20_000 })
    await cut
    await recorded.seen('error')
    expect(task.seen).toHaveLength(12)
    expect((await database.pool.query('select from tasks.batches')).rows).toEqual([])
    expect((await bookingsOf(database.pool, 'answer')).amounts).toEqual(numbers(12))
    expect(await executions('answer')).toEqual(['finished 1'])
    await recorded.worker.stop({ timeoutMs: 0 })
    await proxy.close()
  })
})

it('a statement that waits too long for a lock costs its own task an attempt, and no other', async () => {
  await createPayments(database.pool, 'blocked', 6)
  await database.pool.query('create table safe (id integer primary key); insert into safe values (1)')
  const owner = await database.client()
  await owner.query('begin; select from safe for update')
  const task = new Book('blocked', async ({ amount }, { tx }) => {
    if (amount === 3) await tx.query('update safe set id = 1')
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 10])
  await recorded.seen('finished', { count: 5 })
  await recorded.seen('retried')
  await owner.query('rollback')
  expect((await readTasks(database.pool, 'blocked'))[2]?.last_error).toContain('55P03')
  expect((await bookingsOf(database.pool, 'blocked')).amounts).toEqual([1, 2, 4, 5, 6])
})

it('a handler that hangs past the run limit is left behind; the others of its batch are done without it', async () => {
  await createPayments(database.pool, 'hanging', 6, { runLimit: '2 s' })
  const task = new Book('hanging', async ({ amount }) => {
    if (amount === 3) await new Promise(() => {})
  })
  const recorded = await startWorker({ connectionString: database.url, abortGraceMs: 100 }, [task, 10])
  await recorded.seen('finished', { count: 5 })
  await recorded.seen('retried')
  const rows = await readTasks(database.pool, 'hanging')
  expect(rows.map(({ state, execution_count }) => `${state} ${execution_count}`)).toEqual(
    numbers(6).map((amount) => (amount === 3 ? 'scheduled 1' : 'finished 1')),
  )
  expect(rows[2]?.last_error).toContain('RUN_LIMIT')
  expect((await bookingsOf(database.pool, 'hanging')).amounts).toEqual([1, 2, 4, 5, 6])
})

it('a handler that takes long does not make the database look silent, which goes on answering it', {
  timeout: 60_000,
}, async () => {
  await createPayments(database.pool, 'takes_long', 1)
  const task = new Book('takes_long', async (_, { tx }) => {
    // Each shorter, and all together longer, than a silence that says something.
    for (let times = 0; times < 3; times += 1) await tx.query('select pg_sleep(2.5)')
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 10])
  const told = new Set<string | undefined>()
  await waitFor(
    () => {
      told.add(recorded.worker.health().database.error)
      return recorded.of('finished').length === 1
    },
    { timeoutMs: 30_000 },
  )
  expect([...told]).toEqual([undefined])
})

it('what a handler throws of another database says nothing about this one', async () => {
  await createPayments(database.pool, 'of_another', 2)
  const sessions: unknown[] = []
  const task = new Book('of_another', async ({ amount }, { tx }) => {
    sessions.push((await tx.query('select pg_backend_pid() as pid')).rows[0].pid)
    // As a standby answers.
    if (amount === 1)
      throw Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' })
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 10])
  await Promise.all([recorded.seen('retried'), recorded.seen('finished')])
  expect(sessions[1]).toBe(sessions[0])
})

it('a batch that takes long starts no more tasks after a third of the lease', async () => {
  await createPayments(database.pool, 'long', 5, { timeout: '300 ms' })
  const task = new Book('long', async ({ amount }, { tx }) => {
    if (amount === 2) await tx.query('select pg_sleep(0.15)')
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 10])
  await recorded.seen('finished', { count: 5 })
  expect(recorded.ids('released')).toContain('5')
  expect(await executions('long')).toEqual(['finished 1'])
})

it('a worker whose batch takes long promises nobody any more that it looks by itself', async () => {
  await createPayments(database.pool, 'promised', 20)
  const { task, begun, goOn } = stopAt('promised', 12)
  const promises = async (): Promise<number> => {
    const { rows } = await database.pool.query(
      `select count(*)::int as count from pg_locks where locktype = 'advisory' and classid::bigint = 1886415983
         and objid::bigint = 'tasks.promised'::regclass::oid::bigint and granted`,
    )
    return rows[0].count
  }
  const recorded = await startWorker({ connectionString: database.url }, [task, 3])
  await begun.opened
  expect(await promises()).toBe(1)
  await waitFor(async () => (await promises()) === 0, { timeoutMs: 10_000, what: 'the promise to be taken back' })
  goOn.open()
  await recorded.seen('finished', { count: 20 })
})
