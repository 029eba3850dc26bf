import { CancelTask, RetryTask } from '@pg-tasks/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { countStates, createTaskType, insertTasks, readTask, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { Latch, startWorker, taskOf } from './start-worker.js'

let database: TestDatabase
let proxy: TestProxy

beforeAll(async () => {
  database = await createDatabase()
  proxy = await startProxy(database.url)
})

afterAll(() => proxy.close())

/** A trigger of the user's that runs plpgsql before each update of the table. */
async function beforeUpdate(table: string, body: string): Promise<void> {
  await database.pool.query(`
    create function ${table}_trigger() returns trigger language plpgsql as $$ begin ${body} return new; end $$;
    create trigger own before update on tasks.${table} for each row execute function ${table}_trigger();`)
}

describe('a row whose finish raises in a trigger of the user', () => {
  it('is retried alone; the others of its batch are finished', async () => {
    await createTaskType(database.pool, 'one_raises', { backoffBase: '1 hour' })
    await beforeUpdate(
      'one_raises',
      `if new.finished_at is not null and new.id = 7 then raise exception 'not this one'; end if;`,
    )
    const ids = await insertTasks(database.pool, 'one_raises', 20)
    const runs: string[] = []
    const latch = new Latch()
    const task = taskOf('one_raises', async ({ id }) => {
      runs.push(id)
      await latch.opened
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 20])
    await recorded.seen('started', { count: 20 })
    latch.open()
    await Promise.all([recorded.seen('finished', { count: 19 }), recorded.seen('retried')])
    expect(recorded.ids('retried')).toEqual(['7'])
    expect((await readTask(database.pool, 'one_raises', '7')).last_error).toMatch(/not this one/)
    expect(runs.toSorted()).toEqual(ids.toSorted())
    expect(await countStates(database.pool, 'one_raises')).toEqual({ finished: 19, scheduled: 1 })
  })

  it('holds up no other outcome, even if it refuses every update', async () => {
    await createTaskType(database.pool, 'refuses_all', { backoffBase: '1 hour' })
    const [stuck] = await insertTasks(database.pool, 'refuses_all')
    await database.pool.query('create table forbidden (id bigint)')
    await beforeUpdate(
      'refuses_all',
      `if exists (select from public.forbidden f where f.id = new.id) then raise exception 'never'; end if;`,
    )
    const latch = new Latch()
    const task = taskOf('refuses_all', async ({ id }) => {
      if (id === stuck) await latch.opened
      else if (Number(id) % 2 === 0) throw new Error('even')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 2])
    await recorded.seen('started')
    await database.pool.query('insert into forbidden values ($1)', [stuck])
    latch.open()
    await recorded.seen('error')
    await insertTasks(database.pool, 'refuses_all', 10)
    await Promise.all([recorded.seen('finished', { count: 5 }), recorded.seen('retried', { count: 5 })])
    expect(await readTask(database.pool, 'refuses_all', stuck as string)).toMatchObject({ state: 'running' })
    await database.pool.query('truncate forbidden')
    // Retried, because its finish was refused when it ended.
    await recorded.seen('retried', { count: 6, timeoutMs: 15_000 })
  })
})

describe('a row that is locked when its task is to be finished', () => {
  it('holds up no other outcome, and is finished when it is free', async () => {
    await createTaskType(database.pool, 'locked')
    const [held] = await insertTasks(database.pool, 'locked')
    const latch = new Latch()
    const task = taskOf('locked', async ({ id }) => {
      if (id === held) await latch.opened
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 2])
    await recorded.seen('started')
    const other = await database.client()
    await other.query('begin')
    await other.query('select from tasks.locked where id = $1 for update', [held])
    latch.open()
    await waitFor(() => recorded.worker.health().types[0]?.unsettled === 1)
    await insertTasks(database.pool, 'locked', 50)
    await recorded.seen('finished', { count: 50 })
    await other.query('commit')
    await recorded.seen('finished', { count: 51 })
    expect(recorded.of('error')).toEqual([])
  })

  it('is retried when it is free, and holds up no other retry', async () => {
    await createTaskType(database.pool, 'locked_retry', { backoffBase: '1 hour' })
    const [held] = await insertTasks(database.pool, 'locked_retry')
    const latch = new Latch()
    const task = taskOf('locked_retry', async ({ id }) => {
      if (id === held) await latch.opened
      throw new Error('again')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 2])
    await recorded.seen('started')
    const other = await database.client()
    await other.query('begin')
    await other.query('select from tasks.locked_retry where id = $1 for update', [held])
    latch.open()
    // Not before its lock timeout has told that the row is locked.
    await recorded.seen('error')
    await insertTasks(database.pool, 'locked_retry', 5)
    await recorded.seen('retried', { count: 5 })
    await other.query('commit')
    await recorded.seen('retried', { count: 6, timeoutMs: 15_000 })
  })
})

describe('one of the tasks that were taken ahead and are to be given back', () => {
  /** A worker that holds tasks ahead of its one slot, whose handler waits for the latch. */
  async function takenAhead(table: string): Promise<{ latch: Latch; last: string }> {
    await createTaskType(database.pool, table)
    const latch = new Latch()
    let slow = false
    const task = taskOf(table, () => (slow ? latch.opened : undefined))
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await insertTasks(database.pool, table, 1_000)
    await recorded.seen('finished', { count: 1_000 })
    slow = true
    await insertTasks(database.pool, table, 50)
    await waitFor(() => (recorded.worker.health().types[0]?.queued ?? 0) > 5)
    const { rows } = await database.pool.query<{ id: string }>(
      `select max(id)::text as id from tasks.${table} where started_at is not null and finished_at is null`,
    )
    return { latch, last: rows[0]?.id ?? '' }
  }

  const running = async (table: string) => (await countStates(database.pool, table)).running

  it('holds up none of the others, if it is locked', async () => {
    const { latch, last } = await takenAhead('ahead_locked')
    const other = await database.client()
    await other.query('begin')
    await other.query('select from tasks.ahead_locked where id = $1 for update', [last])
    // The one that runs, and the one that is locked.
    await waitFor(async () => (await running('ahead_locked')) === 2)
    await other.query('commit')
    await waitFor(async () => (await running('ahead_locked')) === 1, { timeoutMs: 15_000 })
    latch.open()
  })

  it('holds up none of the others, if it refuses that', async () => {
    const { latch, last } = await takenAhead('ahead_refuses')
    await beforeUpdate(
      'ahead_refuses',
      `if new.started_at is null and new.id = ${last} then raise exception 'no'; end if;`,
    )
    await waitFor(async () => (await running('ahead_refuses')) === 2)
    latch.open()
  })
})

describe('a wish that the database can not fulfil', () => {
  it.each<[string, () => unknown, 'retried' | 'canceled']>([
    [
      'comment with NUL',
      () => {
        throw new RetryTask({ delayMs: 3_600_000, comment: 'a\u0000b' })
      },
      'retried',
    ],
    [
      'cancel with NUL',
      () => {
        throw new CancelTask('a\u0000b')
      },
      'canceled',
    ],
    [
      'negative delay',
      () => {
        throw new RetryTask({ delayMs: -5 })
      },
      'retried',
    ],
    [
      'endless delay',
      () => {
        throw new RetryTask({ delayMs: Number.POSITIVE_INFINITY })
      },
      'retried',
    ],
    [
      'eternal delay',
      () => {
        throw new RetryTask({ delayMs: 1e300 })
      },
      'retried',
    ],
    [
      'no date',
      () => {
        throw new RetryTask({ plannedTo: new Date(Number.NaN) })
      },
      'retried',
    ],
    [
      'far date',
      () => {
        throw new RetryTask({ plannedTo: new Date(8.64e15) })
      },
      'retried',
    ],
    [
      'two times',
      () => {
        throw new RetryTask({ plannedTo: new Date(), delayMs: 5 })
      },
      'retried',
    ],
  ])('does not keep the task from its outcome: %s', async (name, handler, event) => {
    const table = `wish_${name.replaceAll(' ', '_')}`
    await createTaskType(database.pool, table, { backoffBase: '1 hour' })
    const [id] = await insertTasks(database.pool, table)
    const recorded = await startWorker({ connectionString: database.url }, [taskOf(table, handler), 1])
    await recorded.seen(event)
    expect(recorded.ids(event)).toEqual([id])
  })
})

// PEERS 33
describe('a settling connection that is cut', () => {
  afterEach(() => proxy.pass())

  it.each([
    ['finished', 'finish_many', true, async () => {}],
    ['finished', 'finish_many', false, async () => {}],
    ['retried', 'retry', false, async () => Promise.reject(new Error('again'))],
    ['canceled', 'cancel', false, async () => Promise.reject(new CancelTask())],
  ] as const)('has its tasks %s once (%s, statement reached the server: %s)', async (event, verb, deliver, end) => {
    const table = `cut_${verb}_${deliver}`
    await createTaskType(database.pool, table, { backoffBase: '1 hour' })
    const ids = await insertTasks(database.pool, table, 3)
    await database.pool.query(`create table updates_of_${table} (id bigint)`)
    await database.pool.query(`
      create function count_${table}() returns trigger language plpgsql as $$ begin
        if new.finished_at is not null and old.finished_at is null then insert into public.updates_of_${table} values (new.id); end if;
        return null; end $$;
      create trigger own after update on tasks.${table} for each row execute function count_${table}();`)
    const latch = new Latch()
    const runs: string[] = []
    const task = taskOf(table, async ({ id }) => {
      runs.push(id)
      await latch.opened
      return end()
    })
    const recorded = await startWorker({ connectionString: proxy.url }, [task, 3])
    await recorded.seen('started', { count: 3 })
    const cut = proxy.cutWhen((data, direction) => direction === 'up' && data.includes(`${verb}_tasks_${table}`), {
      deliver,
    })
    latch.open()
    await cut
    await recorded.seen(event, { count: 3 })
    expect(recorded.ids(event).toSorted()).toEqual(ids)
    expect(runs.toSorted()).toEqual(ids)
    expect(recorded.of('lost')).toEqual([])
    const { rows } = await database.pool.query(`select id from updates_of_${table} order by id`)
    expect(rows.map((row) => row.id)).toEqual(event === 'finished' ? ids : [])
  })

  it('has deleted tasks finished once where finished tasks are deleted and the answer was lost', async () => {
    await createTaskType(database.pool, 'cut_deleted', { storageTime: '0' })
    await insertTasks(database.pool, 'cut_deleted', 3)
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: proxy.url }, [taskOf('cut_deleted', () => latch.opened), 3])
    await recorded.seen('started', { count: 3 })
    const cut = proxy.cutWhen(
      (data, direction) => direction === 'up' && data.includes('finish_many_tasks_cut_deleted'),
      {
        deliver: true,
      },
    )
    latch.open()
    await cut
    await recorded.seen('finished', { count: 3 })
    expect(recorded.of('lost')).toEqual([])
    expect(await readTasks(database.pool, 'cut_deleted')).toEqual([])
  })

  it('keeps the leases of outcomes that wait for the database, which nobody takes meanwhile', async () => {
    await createTaskType(database.pool, 'waits_for_rights', { timeout: '600 ms' })
    const role = await database.createRole('settles')
    await database.pool.query(`
      grant usage on schema tasks to ${role.name};
      grant select on all tables in schema tasks to ${role.name};
      grant all on tasks.leases, tasks.waits_for_rights to ${role.name};
      grant execute on all functions in schema tasks to ${role.name}`)
    const [id] = await insertTasks(database.pool, 'waits_for_rights')
    const latch = new Latch()
    const recorded = await startWorker({ connectionString: role.url }, [
      taskOf('waits_for_rights', () => latch.opened),
      1,
    ])
    await recorded.seen('started')
    await database.pool.query(`revoke update on tasks.waits_for_rights from ${role.name}`)
    latch.open()
    await recorded.seen('error', { where: (error) => error.code === '42501' })
    const other = await startWorker({ connectionString: database.url }, [taskOf('waits_for_rights'), 1])
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        `select now() - started_at > interval '2 s' as over from tasks.waits_for_rights`,
      )
      return rows[0]?.over
    })
    expect(other.of('rescued')).toEqual([])
    await database.pool.query(`grant update on tasks.waits_for_rights to ${role.name}`)
    await recorded.seen('finished', { timeoutMs: 15_000 })
    expect(await readTask(database.pool, 'waits_for_rights', id as string)).toMatchObject({ execution_count: 1 })
    expect(other.of('started')).toEqual([])
    await recorded.worker.stop()
  })
})
