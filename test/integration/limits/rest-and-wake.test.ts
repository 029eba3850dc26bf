import { limitConcurrency, limitKeys, limitRate, pauseType, resumeType, type Task } from '@pg-tasks/client'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { countStates, createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { Latch, newWorker, startWorker, taskOf, workersAsleep } from '../worker/start-worker.js'

let database: TestDatabase
let latch: Latch

beforeAll(async () => {
  database = await createDatabase()
  // Every acquire of a limited type asks for room.
  await database.pool.query(`
    create sequence public.looks;
    alter function tasks.take_room(tasks.types, integer) rename to take_room_really;
    create function tasks.take_room(p_type tasks.types, p_max_num integer) returns integer language plpgsql volatile as $$
    begin
      perform nextval('public.looks');
      return tasks.take_room_really(p_type, p_max_num);
    end $$`)
  await createTaskType(database.pool, 'tick')
})

beforeEach(() => {
  latch = new Latch()
  return () => latch.open()
})

const looks = async () => Number((await database.pool.query("select nextval('public.looks') as n")).rows[0].n)
const insert = (table: string, count: number) =>
  database.pool.query(`insert into tasks.${table} (customer) select 1 from generate_series(1, $1)`, [count])

/** Until a task of another type that is due in a second has run. */
async function oneSecond(): Promise<void> {
  const recorded = newWorker({ connectionString: database.url }, [taskOf('tick'), 1])
  void recorded.worker.run()
  await taskOf('tick').enqueue(database.pool, {}, { delayMs: 1_000 })
  await recorded.seen('finished')
  await recorded.worker.stop()
}

// The poll stands at 60 s, so that nothing here can be its doing.
it.each([
  ['a full type', 'full', (task: Task<object>) => limitConcurrency(database.pool, task, 1)],
  ['a blocked key', 'keyed', (task: Task<object>) => limitKeys(database.pool, task, { columns: ['customer'] })],
] as const)(
  '%s lets its workers rest, and wakes them at once when another process has room',
  async (_, table, limit) => {
    await createTaskType(database.pool, table, { columns: 'customer integer' })
    const task = taskOf(table, () => latch.opened)
    await limit(task)
    const workers = [
      await startWorker({ connectionString: database.url }, [task, 2]),
      await startWorker({ connectionString: database.url }, [taskOf(table, () => latch.opened), 2]),
    ]
    await insert(table, 6)
    await waitFor(() => workers.some((one) => one.of('started').length === 1))
    await workersAsleep(database.pool, table, 2)
    const before = await looks()
    await oneSecond()
    // Two workers; a few looks at what happened just before.
    expect((await looks()) - before).toBeLessThan(10)
    const began = performance.now()
    latch.open()
    await waitFor(async () => (await countStates(database.pool, table)).finished === 6, { timeoutMs: 15_000 })
    expect(performance.now() - began).toBeLessThan(10_000)
    const { rows } = await database.pool.query(
      `select count(*)::int as overlapping from tasks.${table} a join tasks.${table} b on a.id < b.id
     where a.started_at < b.finished_at and b.started_at < a.finished_at`,
    )
    expect(rows[0].overlapping).toBe(0)
  },
  60_000,
)

it('a paused type lets its worker rest, and resume wakes it', async () => {
  await createTaskType(database.pool, 'paused', { columns: 'customer integer' })
  const task = taskOf('paused')
  await pauseType(database.pool, task, 'later')
  const recorded = await startWorker({ connectionString: database.url }, [task, 2])
  await insert('paused', 3)
  await workersAsleep(database.pool, 'paused')
  const before = await looks()
  await oneSecond()
  expect((await looks()) - before).toBeLessThan(10)
  expect(recorded.of('started')).toEqual([])
  await resumeType(database.pool, task)
  await recorded.seen('finished', { count: 3 })
}, 60_000)

it('a rate wakes its worker when the next task may start, and not before', async () => {
  await createTaskType(database.pool, 'rated', { columns: 'customer integer' })
  const task = taskOf('rated')
  await limitRate(database.pool, task, { count: 4 })
  const recorded = await startWorker({ connectionString: database.url }, [task, 5])
  await workersAsleep(database.pool, 'rated')
  const before = await looks()
  await insert('rated', 5)
  await recorded.seen('finished', { count: 5 })
  expect((await looks()) - before).toBeLessThan(40)
  const { rows } = await database.pool.query(
    'select min(gap)::float8 as gap from (select extract(epoch from started_at - lag(started_at) over (order by started_at)) as gap from tasks.rated) s',
  )
  expect(rows[0].gap).toBeGreaterThan(0.249)
}, 60_000)
