import { beforeAll, expect, it } from 'vitest'
import { countStates, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { overlaps, overlapsPerKey, runIntervals } from '../limits/run-intervals.js'
import { startWorker } from '../worker/start-worker.js'
import { Book, bookingsOf, createBookings, createPayments } from './transaction-task.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createBookings(database.pool)
})

it('tasks of a type with limits run singly, and the limits hold', { timeout: 90_000 }, async () => {
  await createPayments(database.pool, 'limited', 0)
  await database.pool.query(`select tasks.keep_history('tasks', 'limited'), tasks.limit_concurrency('tasks', 'limited', 2);
    alter table tasks.limited add column key integer`)
  await database.pool.query(`select tasks.limit_keys('tasks', 'limited', '{key}')`)
  await database.pool.query('insert into tasks.limited (amount, key) select g, g % 3 from generate_series(1, 40) g')
  const tasks = [1, 2, 3].map(() => new Book('limited', (_, { tx }) => tx.query('select pg_sleep(0.002)')))
  await Promise.all(tasks.map((task) => startWorker({ connectionString: database.url }, [task, 20])))
  await waitFor(async () => (await countStates(database.pool, 'limited')).finished === 40, { timeoutMs: 60_000 })
  const runs = await runIntervals(database.pool, 'tasks.limited')
  expect(runs).toHaveLength(40)
  expect(overlaps(runs, 2)).toEqual([])
  expect(overlapsPerKey(runs, 1)).toEqual([])
  expect((await bookingsOf(database.pool, 'limited')).amounts).toHaveLength(40)
})

it('a paused type runs nothing', async () => {
  await createPayments(database.pool, 'paused', 3)
  await database.pool.query(`select tasks.pause('tasks', 'paused')`)
  const task = new Book('paused')
  const recorded = await startWorker({ connectionString: database.url }, [task, 20])
  await waitFor(() => recorded.worker.health().types[0]?.asleep)
  expect(task.seen).toEqual([])
  await database.pool.query(`select tasks.resume('tasks', 'paused')`)
  await recorded.seen('finished', { count: 3 })
})

it('a retried task is absorbed by its follow-up, also by one that another task of its batch enqueues', async () => {
  await createPayments(database.pool, 'alone', 4)
  await database.pool.query(`select tasks.unique_while('tasks', 'alone', '{amount}')`)
  const task = new Book('alone', async ({ id, amount }, { tx }, self) => {
    if (amount === 2) await self.enqueue(tx, { amount: 3 }, { onConflict: 'ignore' })
    if (id === '3') throw new Error('again')
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 20])
  await recorded.seen('finished', { count: 4 })
  expect((await readTasks(database.pool, 'alone')).map(({ amount, state }) => [amount, state])).toEqual([
    [1, 'finished'],
    [2, 'finished'],
    [3, 'canceled'],
    [4, 'finished'],
    [3, 'finished'],
  ])
})

it('a group ends once, when the batch of its last members commits, and the history has each attempt', async () => {
  await createPayments(database.pool, 'members', 0)
  await createPayments(database.pool, 'callback', 0)
  await database.pool.query(`select tasks.use_groups('tasks', 'members'), tasks.keep_history('tasks', 'members')`)
  await database.pool.query(`begin;
    select tasks.create_group('g', 'tasks', 'callback', '{"amount": 1}');
    insert into tasks.members (amount, group_key) select g, 'g' from generate_series(1, 50) g;
    commit`)
  const [first, second] = [new Book('members'), new Book('members')]
  await startWorker({ connectionString: database.url }, [first, 10])
  await startWorker({ connectionString: database.url }, [second, 10])
  await waitFor(async () => (await readTasks(database.pool, 'callback')).length > 0, { timeoutMs: 20_000 })
  expect((await readTasks(database.pool, 'callback')).map(({ comment }) => comment)).toEqual([
    'group g: 50 finished, 0 failed, 0 canceled',
  ])
  const { rows } = await database.pool.query(
    `select count(*)::int, count(distinct task_id)::int as tasks from tasks.attempts
     where table_id = 'tasks.members'::regclass and outcome = 'finished'`,
  )
  expect(rows).toEqual([{ count: 50, tasks: 50 }])
})

it('two workers share a backlog, and each task is booked once', { timeout: 90_000 }, async () => {
  await createPayments(database.pool, 'shared', 600)
  const tasks = [new Book('shared'), new Book('shared')]
  await Promise.all(tasks.map((task) => startWorker({ connectionString: database.url }, [task, 25])))
  await waitFor(async () => (await countStates(database.pool, 'shared')).finished === 600, { timeoutMs: 60_000 })
  expect((await bookingsOf(database.pool, 'shared')).amounts).toEqual(Array.from({ length: 600 }, (_, i) => i + 1))
  expect(tasks.map(({ seen }) => seen.length).reduce((a, b) => a + b)).toBe(600)
})
