import { types } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { countStates, createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { Latch, newWorker, startWorker, taskOf, workersAsleep } from './start-worker.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startProxy(database.url)
})

afterAll(() => proxy.close())

describe('the order of tasks', () => {
  // B-20
  it('is that of their ids where all times are the same', async () => {
    await createTaskType(database.pool, 'same_times')
    const client = await database.client()
    await client.query('begin')
    for (let n = 0; n < 10; n++) await client.query('insert into tasks.same_times (planned_to) values (now())')
    await client.query('commit')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('same_times'), 1])
    await recorded.seen('finished', { count: 10 })
    expect(recorded.ids('started')).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'])
  })

  // B-22, PEERS 5
  it('is priority, then the time they are planned for, then their id, in whatever order they were inserted', async () => {
    await createTaskType(database.pool, 'ordered', { columns: 'rank int not null' })
    await database.pool.query(`
      insert into tasks.ordered (priority, planned_to, rank)
      select p, now() - make_interval(secs => s), row_number() over (order by p, s desc)
      from generate_series(0, 3) p, generate_series(1, 50) s order by random()`)
    const ranks: number[] = []
    const task = taskOf<{ rank: number }>('ordered', async ({ rank }) => ranks.push(rank))
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('finished', { count: 200 })
    expect(ranks).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
  })

  // B-21
  it('puts a retried task behind new ones, so that failing ones do not keep the head', async () => {
    await createTaskType(database.pool, 'failing_head', {
      maxRetries: null,
      columns: 'fails boolean not null default false',
    })
    await database.pool.query('insert into tasks.failing_head (fails) select true from generate_series(1, 20)')
    await database.pool.query('insert into tasks.failing_head (fails) select false from generate_series(1, 20)')
    const task = taskOf<{ fails: boolean }>('failing_head', async ({ fails }) => {
      if (fails) throw new Error('always')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 2])
    await recorded.seen('finished', { count: 20 })
    expect(recorded.of('retried').length).toBeLessThanOrEqual(60)
  })
})

// PEERS 28
describe('a backlog of 10,000 tasks', () => {
  it.each([true, false])('is drained by one slot without a pause (notify %s)', async (notify) => {
    const table = `backlog_${notify}`
    await createTaskType(database.pool, table, { notify })
    await insertTasks(database.pool, table, 10_000)
    let last = performance.now()
    let longestGapMs = 0
    const task = taskOf(table, async () => {
      const now = performance.now()
      longestGapMs = Math.max(longestGapMs, now - last)
      last = now
    })
    const before = proxy.counters.bytesUp
    const recorded = newWorker({ connectionString: proxy.url }, [task, 1])
    recorded.running = recorded.worker.run()
    await recorded.seen('started', { timeoutMs: 20_000 })
    const began = performance.now()
    longestGapMs = 0
    await recorded.seen('finished', { count: 10_000, timeoutMs: 20_000 })
    const tookMs = performance.now() - began
    const acquires = recorded.of('acquired').length
    console.log(
      `notify ${notify}: 10,000 tasks in ${Math.round(tookMs)} ms by ${acquires} acquires, ` +
        `${Math.round((proxy.counters.bytesUp - before) / 1024)} kB sent, longest gap ${Math.round(longestGapMs)} ms`,
    )
    // A worker that pauses between tasks or polls needs minutes.
    expect(tookMs).toBeLessThan(15_000)
    expect(acquires).toBeLessThan(500)
    expect(new Set(recorded.ids('finished')).size).toBe(10_000)
  })
})

describe('tasks taken ahead of free slots', () => {
  it('are none while handlers are slow', async () => {
    await createTaskType(database.pool, 'slow')
    await insertTasks(database.pool, 'slow', 30)
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('slow', () => new Promise((resolve) => setTimeout(resolve, 60))),
      2,
    ])
    let most = 0
    await waitFor(() => {
      most = Math.max(most, recorded.worker.health().types[0]?.queued ?? 0)
      return recorded.of('finished').length === 30
    })
    expect(most).toBe(0)
    expect(recorded.of('finished')).toHaveLength(30)
  })

  it('go back when the handlers have become slow, and run in another worker', async () => {
    await createTaskType(database.pool, 'turns_slow')
    const latch = new Latch()
    let slow = false
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('turns_slow', () => (slow ? latch.opened : undefined)),
      1,
    ])
    await insertTasks(database.pool, 'turns_slow', 1_000)
    await recorded.seen('finished', { count: 1_000 })
    slow = true
    await insertTasks(database.pool, 'turns_slow', 100)
    await waitFor(() => (recorded.worker.health().types[0]?.queued ?? 0) > 0)
    const other = await startWorker({ connectionString: database.url }, [taskOf('turns_slow'), 1])
    await other.seen('finished', { count: 99 })
    expect(new Set(other.of('finished').map((event) => event.attempt))).toEqual(new Set([1]))
    latch.open()
    await recorded.seen('finished', { count: 1_001 })
  })

  // B-45 (a)
  it('do not run twice although they wait longer than their lease', async () => {
    await createTaskType(database.pool, 'waits_in_memory', { timeout: '500 ms' })
    await insertTasks(database.pool, 'waits_in_memory', 20)
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('waits_in_memory', () => new Promise((resolve) => setTimeout(resolve, 100))),
      1,
    ])
    const other = await startWorker({ connectionString: database.url }, [
      taskOf('waits_in_memory', () => new Promise((resolve) => setTimeout(resolve, 100))),
      1,
    ])
    await waitFor(async () => (await countStates(database.pool, 'waits_in_memory')).finished === 20)
    expect(recorded.of('started').length + other.of('started').length).toBe(20)
  })
})

describe('rows that can not be taken', () => {
  /** How many acquires the worker sends while the test waits. */
  async function acquiresWithin(table: string, ms: number): Promise<number> {
    const { rows: before } = await database.pool.query(`select last_value from acquires_of_${table}`)
    await new Promise((resolve) => setTimeout(resolve, ms))
    const { rows: after } = await database.pool.query(`select last_value from acquires_of_${table}`)
    return Number(after[0].last_value) - Number(before[0].last_value)
  }

  // B-33
  it('because a trigger of the user vetoes them make the worker back off instead of spin', async () => {
    await createTaskType(database.pool, 'vetoed')
    await database.pool.query(`
      create sequence acquires_of_vetoed;
      create function veto() returns trigger language plpgsql as $$ begin
        perform nextval('public.acquires_of_vetoed'); return null; end $$;
      create trigger veto before update on tasks.vetoed for each row when (new.started_at is not null) execute function veto()`)
    const [id] = await insertTasks(database.pool, 'vetoed')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('vetoed'), 1])
    await waitFor(
      async () =>
        Number((await database.pool.query('select last_value from acquires_of_vetoed')).rows[0].last_value) > 5,
    )
    const acquires = await acquiresWithin('vetoed', 1_500)
    console.log(`${acquires} acquires in 1,500 ms while all rows are vetoed`)
    expect(acquires).toBeLessThan(30)
    await database.pool.query('drop trigger veto on tasks.vetoed')
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id, attempt: 1 })
  })

  it('because somebody holds them are taken when they are free', async () => {
    await createTaskType(database.pool, 'held')
    const ids = await insertTasks(database.pool, 'held', 3)
    const client = await database.client()
    await client.query('begin')
    await client.query('select from tasks.held where id < 3 for update')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('held'), 3])
    await recorded.seen('finished')
    await client.query('commit')
    await recorded.seen('finished', { count: 3 })
    expect(recorded.ids('finished').toSorted()).toEqual(ids)
  })

  // B-27: what the driver makes of such values is no reason to stop
  it('by the driver do not stop the others', async () => {
    await createTaskType(database.pool, 'odd_values', {
      columns: 'at timestamptz, day date, span interval, amount numeric, tags text[]',
    })
    await database.pool.query(`
      insert into tasks.odd_values (planned_to, at, day, span, amount) values
        ('-infinity', 'infinity', '-infinity', '1000000 years', 'NaN'),
        ('0044-03-15 BC', '0044-03-15 BC', '4713-01-01 BC', '-1 mon 3 days', '1e1000'),
        (now(), '294276-12-31', '5874897-12-31', '0', '-0.000000000000000001'),
        ('infinity', null, null, null, null);
      insert into tasks.odd_values (tags) values ('{"a,b",NULL,"\\"",""}')`)
    const rows: unknown[] = []
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('odd_values', async (row) => rows.push(row)),
      1,
    ])
    await recorded.seen('finished', { count: 4 })
    expect(rows).toHaveLength(4)
    expect(rows[3]).toMatchObject({ tags: ['a,b', null, '"', ''] })
    expect(await readTask(database.pool, 'odd_values', '4')).toMatchObject({ state: 'scheduled' })
  })

  it('because their type parser throws are retried with that error, and do not stop the others', async () => {
    await createTaskType(database.pool, 'poison', { columns: 'value int', backoffBase: '1 hour' })
    await database.pool.query('insert into tasks.poison (value) values (1), (2), (3)')
    const recorded = await startWorker(
      {
        connectionString: database.url,
        connectionConfig: {
          types: {
            getTypeParser: ((oid: number, format: 'text') => {
              if (oid !== 23) return types.getTypeParser(oid, format)
              return (text: string) => {
                if (text === '2') throw new Error('no twos')
                return Number(text)
              }
            }) as never,
          },
        },
      },
      [taskOf('poison'), 1],
    )
    await Promise.all([recorded.seen('finished', { count: 2 }), recorded.seen('retried')])
    expect(recorded.ids('finished')).toEqual(['1', '3'])
    expect(recorded.ids('started')).toEqual(['1', '3'])
    expect((await readTask(database.pool, 'poison', '2')).last_error).toMatch(/no twos/)
  })

  it('because nobody knows a parser of their type are retried with that error, and do not stop the others', async () => {
    await createTaskType(database.pool, 'no_parser', { columns: 'value numeric', backoffBase: '1 hour' })
    await database.pool.query('insert into tasks.no_parser (value) values (null), (2), (null)')
    const getTypeParser = (oid: number, format: 'text'): unknown => {
      if (oid === 1700) throw new Error('no numbers')
      return types.getTypeParser(oid, format)
    }
    const recorded = await startWorker(
      { connectionString: database.url, connectionConfig: { types: { getTypeParser: getTypeParser as never } } },
      [taskOf('no_parser'), 1],
    )
    await Promise.all([recorded.seen('finished', { count: 2 }), recorded.seen('retried')])
    expect(recorded.ids('finished')).toEqual(['1', '3'])
    expect((await readTask(database.pool, 'no_parser', '2')).last_error).toMatch(/no numbers/)
  })
})

describe('an empty table', () => {
  // B-10
  it('costs a handful of acquires when 1,000 notifications arrive in a second', async () => {
    await createTaskType(database.pool, 'stormed')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('stormed'), 50])
    await workersAsleep(database.pool, 'stormed')
    const calls = async () =>
      Number(
        (await database.pool.query(`select calls from pg_stat_user_functions where funcname = 'acquire_tasks_stormed'`))
          .rows[0]?.calls ?? 0,
      )
    await database.pool.query(`alter database ${database.name} set track_functions = 'pl'`)
    await recorded.worker.stop()
    const counted = await startWorker({ connectionString: database.url }, [taskOf('stormed'), 50])
    await workersAsleep(database.pool, 'stormed')
    const before = proxy.counters.accepted
    const client = await database.client()
    for (let n = 0; n < 1_000; n++) await client.query("notify pg_tasks, 'tasks.stormed'")
    await insertTasks(database.pool, 'stormed')
    await counted.seen('finished')
    await counted.worker.stop()
    await waitFor(async () => (await calls()) > 0)
    console.log(`1,000 notifications led to ${await calls()} acquires`)
    expect(await calls()).toBeLessThan(60)
    expect(proxy.counters.accepted).toBe(before)
  })

  // PEERS 29
  it('and a slot that is taken: notifications that came meanwhile are not forgotten', async () => {
    await createTaskType(database.pool, 'meanwhile')
    const latch = new Latch()
    await insertTasks(database.pool, 'meanwhile')
    const recorded = await startWorker({ connectionString: database.url }, [taskOf('meanwhile', () => latch.opened), 1])
    await recorded.seen('started')
    for (let n = 0; n < 20; n++) await insertTasks(database.pool, 'meanwhile')
    latch.open()
    await recorded.seen('finished', { count: 21 })
  })
})
