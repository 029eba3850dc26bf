import { beforeAll, describe, expect, it } from 'vitest'
import {
  aborted,
  Latch,
  newWorker,
  type RecordedWorker,
  startWorker,
  taskOf,
  workersAsleep,
} from '../integration/worker/start-worker.js'
import { createTaskType, insertTasks, readTask } from '../support/task-type.js'
import { createDatabase, type TestDatabase } from '../support/test-database.js'
import { waitFor } from '../support/wait-for.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})

const warnings = (recorded: RecordedWorker): string[] =>
  recorded.lines.filter((line) => line.level !== 'debug' && line.level !== 'info').map((line) => line.message)

// B-71
describe('one of three types', () => {
  async function threeTypes(name: string): Promise<RecordedWorker> {
    const tables = [`${name}_a`, `${name}_b`, `${name}_c`]
    for (const table of tables) await createTaskType(database.pool, table)
    const recorded = await startWorker(
      { connectionString: database.url, pollIntervalMs: 300 },
      ...tables.map((table) => [taskOf(table), 1] as const),
    )
    for (const table of tables) await workersAsleep(database.pool, table)
    return recorded
  }

  async function othersRun(recorded: RecordedWorker, name: string): Promise<void> {
    const before = recorded.of('finished').length
    await insertTasks(database.pool, `${name}_b`)
    await insertTasks(database.pool, `${name}_c`)
    await recorded.seen('finished', { count: before + 2 })
  }

  it('goes on under its new name when its table is renamed, with one warning', async () => {
    const recorded = await threeTypes('rename')
    await database.pool.query('alter table tasks.rename_a rename to renamed')
    await insertTasks(database.pool, 'renamed')
    await othersRun(recorded, 'rename')
    await recorded.seen('finished', { where: (event) => event.table === 'renamed' })
    // From now on also by notification, not only by the poll.
    await insertTasks(database.pool, 'renamed', 3)
    await recorded.seen('finished', { where: (event) => event.table === 'renamed', count: 4 })
    expect(warnings(recorded)).toEqual(['A task table was renamed'])
  })

  it('goes on when its table moves to another schema, and again when it is renamed a second time', async () => {
    const recorded = await threeTypes('move')
    await database.pool.query('create schema elsewhere; alter table tasks.move_a set schema elsewhere')
    await database.pool.query('insert into elsewhere.move_a (trace_id) values (null)')
    await othersRun(recorded, 'move')
    await recorded.seen('finished', { where: (event) => event.schema === 'elsewhere' })
    await database.pool.query('alter schema elsewhere rename to yet_elsewhere')
    await database.pool.query('insert into yet_elsewhere.move_a (trace_id) values (null)')
    await recorded.seen('finished', { where: (event) => event.schema === 'yet_elsewhere' })
    expect(warnings(recorded)).toEqual(Array(2).fill('A task table was renamed'))
  })

  it('keeps a task that runs while its table is renamed', async () => {
    await createTaskType(database.pool, 'renamed_meanwhile', { timeout: '900 ms' })
    const [id] = await insertTasks(database.pool, 'renamed_meanwhile')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('renamed_meanwhile', (_, { signal }) => Promise.race([latch.opened, aborted(signal)])),
      1,
    ])
    await recorded.seen('started')
    await database.pool.query('alter table tasks.renamed_meanwhile rename to renamed_then')
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select clock_timestamp() - started_at > interval '2 s' as over from tasks.renamed_then`,
      )
      return rows[0]?.over
    })
    latch.open()
    const [event] = await recorded.seen('finished')
    expect(event).toMatchObject({ id, attempt: 1, table: 'renamed_then' })
    expect(recorded.of('lost')).toEqual([])
    expect(await readTask(database.pool, 'renamed_then', id as string)).toMatchObject({
      state: 'finished',
      lost_count: 0,
    })
  })

  it('is waited for when its table is dropped, and picked up when it is made anew', async () => {
    const recorded = await threeTypes('drop')
    await database.pool.query('drop table tasks.drop_a cascade')
    await recorded.seen('error', { where: (error) => /drop_a/.test(error.message) })
    await othersRun(recorded, 'drop')
    await createTaskType(database.pool, 'drop_a')
    await insertTasks(database.pool, 'drop_a')
    await recorded.seen('finished', { where: (event) => event.table === 'drop_a', timeoutMs: 15_000 })
    // Cancel reaches the new table's runs too.
    expect(new Set(warnings(recorded))).toEqual(new Set(['Tasks could not be acquired; trying again']))
  })

  it('hears of cancels by its new identity when it was made anew between two looks', async () => {
    await createTaskType(database.pool, 'made_anew', { timeout: '1 minute' })
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('made_anew', async (_, { signal }) => {
        throw await aborted(signal)
      }),
      1,
    ])
    await workersAsleep(database.pool, 'made_anew')
    await database.pool.query('drop table tasks.made_anew cascade')
    await createTaskType(database.pool, 'made_anew', { timeout: '1 minute' })
    const [id] = await insertTasks(database.pool, 'made_anew')
    await recorded.seen('started')
    await waitFor(
      async () =>
        (await database.pool.query(`select from tasks.leases where worker_id = $1`, [recorded.worker.id])).rows.length >
        0,
    )
    // Known after the first heartbeat, about a second after the start.
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select clock_timestamp() - started_at > interval '1500 ms' as over from tasks.made_anew`,
      )
      return rows[0]?.over
    })
    await database.pool.query('select tasks.cancel_tasks_made_anew($1)', [id])
    await recorded.seen('lost', { timeoutMs: 3_000, where: (event) => event.reason === 'canceled' })
  })

  it('is waited for when it is unregistered, and picked up when it is registered again', async () => {
    const recorded = await threeTypes('unregister')
    await database.pool.query(`select tasks.unregister('tasks', 'unregister_a')`)
    await insertTasks(database.pool, 'unregister_a')
    await recorded.seen('error')
    await othersRun(recorded, 'unregister')
    await database.pool.query(`select tasks.register('tasks', 'unregister_a')`)
    await recorded.seen('finished', { where: (event) => event.table === 'unregister_a', timeoutMs: 15_000 })
  })

  it('does not disturb anybody when it is registered again and again meanwhile', async () => {
    const recorded = await threeTypes('reregister')
    for (let n = 0; n < 20; n++) {
      await insertTasks(database.pool, 'reregister_a')
      await database.pool.query(`select tasks.register('tasks', 'reregister_a', max_retries => $1)`, [n])
    }
    await recorded.seen('finished', { count: 20 })
    expect([...recorded.of('error'), ...warnings(recorded)]).toEqual([])
  })
})

// B-31
describe('a busy type', () => {
  it('gets new columns and loses old ones without an error or a second run', async () => {
    await createTaskType(database.pool, 'altered', { columns: 'payload text' })
    const seen = new Set<string>()
    const runs: string[] = []
    const task = taskOf<Record<string, unknown>>('altered', async (row) => {
      runs.push(row.id)
      seen.add(
        Object.keys(row)
          .filter((column) => ['payload', 'extra'].includes(column))
          .join(' '),
      )
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 4])
    let inserted = 0
    const insertWhile = async (change: string) => {
      let done = false
      const changed = database.pool.query(change).then(() => {
        done = true
      })
      do {
        await insertTasks(database.pool, 'altered', 20)
        inserted += 20
      } while (!done)
      await changed
      await insertTasks(database.pool, 'altered', 20)
      inserted += 20
      await recorded.seen('finished', { count: inserted })
    }
    await insertWhile('select')
    await insertWhile('alter table tasks.altered add column extra int default 7')
    await insertWhile('alter table tasks.altered drop column payload')
    expect([...seen]).toEqual(['payload', 'payload extra', 'extra'])
    expect(new Set(runs).size).toBe(inserted)
    expect(runs).toHaveLength(inserted)
    expect(recorded.of('retried')).toEqual([])
    console.log(
      `errors while columns came and went: ${
        recorded
          .of('error')
          .map((error) => error.code)
          .join(' ') || 'none'
      }`,
    )
    expect(recorded.of('error').length).toBeLessThanOrEqual(2)
  })
})

describe('a column that is renamed or gets another type', () => {
  it('has its new name and type in the next row already', async () => {
    await createTaskType(database.pool, 'renamed_column', { columns: "payload text default '5'" })
    const rows: Array<Record<string, unknown>> = []
    const task = taskOf<Record<string, unknown>>('renamed_column', async ({ payload, body }) => {
      rows.push({ payload, body })
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    const changes = [
      'select',
      'alter table tasks.renamed_column rename payload to body',
      `alter table tasks.renamed_column alter body drop default, alter body type integer using body::integer,
         alter body set default 5`,
    ]
    for (const [index, change] of changes.entries()) {
      await database.pool.query(change)
      // Several rounds, so that a statement that is prepared has been used.
      for (let round = 1; round <= 7; round += 1) {
        await insertTasks(database.pool, 'renamed_column')
        await recorded.seen('finished', { count: index * 7 + round })
      }
    }
    const [text, renamed, number] = [{ payload: '5' }, { body: '5' }, { body: 5 }]
    expect(rows).toEqual([text, renamed, number].flatMap((row) => Array.from({ length: 7 }, () => row)))
    expect(recorded.of('error')).toEqual([])
  })
})

// B-14
describe('two applications in one database', () => {
  it('run their own types only, and foreign notifications cost nothing', async () => {
    await database.pool.query('create schema a; create schema b')
    for (const [schema, table] of [
      ['a', 'mail'],
      ['a', 'sms'],
      ['b', 'jobs'],
    ] as const) {
      await createTaskType(database.pool, table, { schema, timeout: '500 ms' })
    }
    const recorded = await startWorker({ connectionString: database.url }, [
      taskOf('mail', () => {}, { schema: 'a' }),
      2,
    ])
    await waitFor(() => recorded.worker.health().types[0]?.asleep)
    await database.pool.query(`select * from tasks.acquire_a_sms(1)`)
    for (let n = 0; n < 20; n++) {
      await database.pool.query(`
        insert into a.mail (trace_id) values (null); insert into a.sms (trace_id) values (null); insert into b.jobs (trace_id) values (null)`)
    }
    await database.pool.query(`notify pg_tasks, 'not a.real.name'; notify pg_tasks, '123'; notify pg_tasks, '{"x":1}'`)
    await recorded.seen('finished', { count: 20 })
    const { rows } = await database.pool.query(`
      select (select count(*) from a.sms where started_at is null) as sms, (select count(*) from b.jobs where started_at is null) as jobs`)
    expect(rows).toEqual([{ sms: '20', jobs: '20' }])
    expect([...recorded.of('error'), ...recorded.of('rescued'), ...warnings(recorded)]).toEqual([])
  })
})

describe('a type that can not be served', () => {
  it('makes run() reject when it is not registered', async () => {
    const recorded = newWorker({ connectionString: database.url }, [taskOf('nowhere'), 1])
    await expect(recorded.worker.run()).rejects.toMatchObject({
      code: 'TYPE_NOT_REGISTERED',
      message: /tasks\.nowhere.*tasks\.register\('tasks', 'nowhere'\)/,
    })
    expect(recorded.worker.health().state).toBe('stopped')
  })

  it('makes run() reject when the database has no schema of ours', async () => {
    const empty = await createDatabase({ migrations: false })
    const recorded = newWorker({ connectionString: empty.url }, [taskOf('nowhere'), 1])
    await expect(recorded.worker.run()).rejects.toMatchObject({
      code: 'TYPE_NOT_REGISTERED',
      message: /migrate\(connection\)/,
    })
  })

  // B-59
  it('makes run() reject when heartbeats can not keep its lease', async () => {
    await createTaskType(database.pool, 'short_lease', { timeout: '1 s' })
    const recorded = newWorker({ connectionString: database.url, heartbeatIntervalMs: 501 }, [taskOf('short_lease'), 1])
    await expect(recorded.worker.run()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: /heartbeatIntervalMs.*at most half/,
    })
  })
})
