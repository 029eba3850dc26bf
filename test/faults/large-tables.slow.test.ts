import { beforeAll, describe, expect, it } from 'vitest'
import { PlanWatcher } from '../integration/plans/nested-plans.js'
import { createTaskType as createSqlType } from '../integration/sql/create-task-type.js'
import { startWorker, taskOf } from '../integration/worker/start-worker.js'
import { createTaskType } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'

const MILLION = 1_000_000
const WORKER = '55555555-5555-4555-8555-555555555555'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

// Backpressure: a million due at once.
describe('a worker in front of a million due tasks', () => {
  it('takes no more than it can run, runs an urgent one at once, and other types as ever', {
    timeout: 600_000,
  }, async () => {
    await createTaskType(database.pool, 'flood')
    await createTaskType(database.pool, 'other')
    await database.pool.query('insert into tasks.flood (trace_id) select null from generate_series(1, $1)', [MILLION])
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('flood'), 10], [taskOf('other'), 1])
    await recorded.seen('finished', { count: 5_000, timeoutMs: 60_000 })
    // At most what it may hold: the slots, what is prefetched, and outcomes that are being written.
    const { rows } = await database.pool.query(
      'select count(*)::int as held from tasks.flood where started_at is not null and finished_at is null',
    )
    expect(rows[0].held).toBeLessThanOrEqual(2_000)
    expect(process.memoryUsage().heapUsed).toBeLessThan(1_000_000_000)

    const before = recorded.of('finished').length
    await database.pool.query('insert into tasks.other default values')
    const urgent = (await database.pool.query('insert into tasks.flood (priority) values (0) returning id')).rows[0].id
    await recorded.seen('finished', { where: ({ table }) => table === 'other', timeoutMs: 60_000 })
    await recorded.seen('finished', { where: ({ id }) => id === urgent, timeoutMs: 60_000 })
    console.log(`${recorded.of('finished').length - before} of a million ran before an urgent task and another type's`)
    expect(recorded.of('finished').length).toBeLessThan(MILLION / 2)
    expect([...recorded.of('error'), ...recorded.of('lost')]).toEqual([])
    await recorded.worker.stop()
  })
})

// B-35
describe('a million finished, a million planned for next year, a hundred due', () => {
  it('cost an acquire no more than the hundred, with statistics and without, prepared or not', {
    timeout: 600_000,
  }, async () => {
    const watcher = await PlanWatcher.start(await database.client())
    await createSqlType(database.pool, 'laden', { settings: `timeout => '1 hour'` })
    await database.pool.query('alter table tasks.laden set (autovacuum_enabled = off)')
    await database.pool.query(`
      insert into tasks.laden (started_at, finished_at, execution_count)
        select now(), now(), 1 from generate_series(1, ${MILLION});
      insert into tasks.laden (planned_to) select now() + interval '1 year' from generate_series(1, ${MILLION});
      insert into tasks.laden (trace_id) select null from generate_series(1, 100)`)
    const acquire = (count: number) => `select id from tasks.acquire_tasks_laden(${count}, '${WORKER}')`
    for (const prepare of ['select', 'vacuum analyze tasks.laden']) {
      await database.pool.query(prepare)
      for (let round = 0; round < 12; round++) {
        const [, buffers] = [await watcher.plansOf(acquire(1)), await watcher.buffersOf(acquire(1))]
        if (round > 0) expect(buffers).toBeLessThan(100)
      }
    }
    await database.pool.query(
      'delete from tasks.laden where finished_at is null and planned_to < now() and started_at is null',
    )
    await watcher.plansOf(acquire(10))
    expect(await watcher.buffersOf(acquire(10))).toBeLessThan(100)
  })
})

// B-63
describe('a million tasks past their time', () => {
  it('are deleted by two cleaners at once in many short statements, each once', {
    timeout: 600_000,
  }, async () => {
    await createSqlType(database.pool, 'old')
    await database.pool.query(`
      insert into tasks.old (started_at, finished_at, execution_count)
      select now() - interval '1 year', now() - interval '1 year' + g * interval '1 ms', 1 from generate_series(1, ${MILLION}) g`)
    await database.pool.query('create table kept (task_id bigint references tasks.old)')
    await database.pool.query('insert into kept select id from tasks.old order by id limit 10')
    const cleaners = await Promise.all([database.client(), database.client()])
    const deleted = await Promise.all(
      cleaners.map(async (cleaner) => {
        let sum = 0
        for (;;) {
          const { rows } = await cleaner.query(`select tasks.clean_tasks_old('1 day', max_num => 10000)::int as count`)
          if (rows[0].count === 0) return sum
          sum += rows[0].count
        }
      }),
    )
    console.log(`deleted ${deleted.join(' and ')}`)
    expect((await database.pool.query('select from tasks.old')).rowCount).toBe(10)
    expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(MILLION - 10)
  })
})
