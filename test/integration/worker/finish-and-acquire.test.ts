import { beforeAll, expect, it } from 'vitest'
import { startProxy } from '../../support/proxy.js'
import { countStates, createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { Latch, startWorker, taskOf } from './start-worker.js'

// A slot that has become free is filled by the transaction that finishes its last task: one commit per task.
/** The transactions that changed a row, in order. */
const TRANSACTIONS = `transactions text[] not null default '{}'`

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

/** Lets each row tell which transactions have changed it. */
async function noteTransactions(table: string): Promise<void> {
  await database.pool.query(`
    create function ${table}_trigger() returns trigger language plpgsql as
      $$ begin new.transactions := new.transactions || pg_current_xact_id()::text; return new; end $$;
    create trigger own before update on tasks.${table} for each row execute function ${table}_trigger()`)
}

/** Runs two tasks, one after the other, and tells whether one transaction finished the first and acquired the second. */
async function areOneTransaction(table: string): Promise<boolean> {
  await noteTransactions(table)
  await insertTasks(database.pool, table, 2)
  const recorded = await startWorker({ connectionString: database.url }, [taskOf(table), 1])
  await recorded.seen('finished', { count: 2 })
  const { rows } = await database.pool.query(`select transactions from tasks.${table} order by id`)
  const [first, second] = rows.map((row) => row.transactions)
  expect([first.length, second.length]).toEqual([2, 2])
  return first[1] === second[0]
}

it('finishes a task and acquires the next in one transaction', async () => {
  await createTaskType(database.pool, 'together', { columns: TRANSACTIONS })
  expect(await areOneTransaction('together')).toBe(true)
  expect(await countStates(database.pool, 'together')).toEqual({ finished: 2 })
})

it('finishes what ends in the same turn, and fills all those slots, in one transaction', async () => {
  const table = 'same_turn'
  await createTaskType(database.pool, table, { columns: TRANSACTIONS })
  await noteTransactions(table)
  const ids = await insertTasks(database.pool, table, 8)
  const latch = new Latch()
  const task = taskOf(table, ({ id }) => (ids.indexOf(id) < 4 ? latch.opened : undefined))
  const recorded = await startWorker({ connectionString: database.url }, [task, 4])
  await recorded.seen('started', { count: 4 })
  latch.open()
  await recorded.seen('finished', { count: 8 })
  const { rows } = await database.pool.query(`select transactions from tasks.${table} order by id`)
  const met = rows.map(({ transactions }, index) => transactions[index < 4 ? 1 : 0])
  expect(met).toHaveLength(8)
  expect(new Set(met).size).toBe(1)
})

it('does so where tasks are deleted at their finish, and a user’s column has any name', async () => {
  await createTaskType(database.pool, 'deleted', {
    storageTime: '0',
    columns: 'unfinished text, zero integer, a text',
  })
  const ids = await insertTasks(database.pool, 'deleted', 3)
  const seen: object[] = []
  const task = taskOf('deleted', (row) => void seen.push(row))
  const recorded = await startWorker({ connectionString: database.url }, [task, 1])
  await recorded.seen('finished', { count: 3 })
  expect(recorded.ids('finished')).toEqual(ids)
  const [columns, ...others] = seen.map((row) => Object.keys(row))
  expect(columns).toContain('zero')
  expect(others).toEqual([columns, columns])
  expect(await countStates(database.pool, 'deleted')).toEqual({})
})

it('leaves types with a limit to two transactions: their acquires wait for one another', async () => {
  await createTaskType(database.pool, 'limited', { columns: TRANSACTIONS })
  await database.pool.query(`select tasks.limit_concurrency('tasks', 'limited', 5)`)
  expect(await areOneTransaction('limited')).toBe(false)
})

it('acquires although the finish is refused, and tells of the finish alone', async () => {
  await createTaskType(database.pool, 'refused', { backoffBase: '1 hour' })
  await database.pool.query(`
    create function refused_trigger() returns trigger language plpgsql as
      $$ begin if new.finished_at is not null and new.id = 1 then raise exception 'not this one'; end if; return new; end $$;
    create trigger own before update on tasks.refused for each row execute function refused_trigger()`)
  await insertTasks(database.pool, 'refused', 4)
  const recorded = await startWorker({ connectionString: database.url }, [taskOf('refused'), 1])
  await Promise.all([recorded.seen('finished', { count: 3 }), recorded.seen('retried')])
  expect(recorded.ids('retried')).toEqual(['1'])
  expect((await readTask(database.pool, 'refused', '1')).last_error).toMatch(/not this one/)
  expect(recorded.lines.filter(({ message }) => /could not be acquired/.test(message))).toEqual([])
})

it('tells of a task that was taken away before its finish, and goes on', async () => {
  await createTaskType(database.pool, 'taken')
  const [first] = await insertTasks(database.pool, 'taken', 3)
  const task = taskOf('taken', async ({ id }) => {
    if (id === first)
      await database.pool.query('update tasks.taken set run_token = gen_random_uuid() where id = $1', [id])
  })
  const recorded = await startWorker({ connectionString: database.url }, [task, 1])
  await Promise.all([recorded.seen('finished', { count: 2 }), recorded.seen('lost')])
  expect(recorded.ids('lost')).toEqual([first])
})

it.each([
  ['the statement', 'up'],
  ['its answer', 'down'],
] as const)('loses neither task when %s does not arrive', async (_, direction) => {
  const table = `cut_${direction}`
  const proxy = await startProxy(database.url)
  await createTaskType(database.pool, table, { timeout: '2 s' })
  const [first] = await insertTasks(database.pool, table, 4)
  const task = taskOf(table, ({ id, execution_count: attempt }) => {
    if (id === first && attempt === 1) void proxy.cutAfter(1, direction)
  })
  const recorded = await startWorker({ connectionString: proxy.url }, [task, 1])
  await recorded.seen('finished', { count: 4, timeoutMs: 30_000 })
  expect(new Set(recorded.ids('finished')).size).toBe(4)
  expect(await countStates(database.pool, table)).toEqual({ finished: 4 })
  expect((await readTask(database.pool, table, first as string)).execution_count).toBe(1)
  await recorded.worker.stop()
  await proxy.close()
})
