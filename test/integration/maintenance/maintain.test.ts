import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { within } from '../../support/wait-for.js'
import { createTaskType } from '../sql/create-task-type.js'
import { moveClock } from '../sql/move-clock.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { type State, stateOf, taskInState } from '../sql/task-in-state.js'

const database = await createDatabase()
const { pool } = database

interface Maintained {
  readonly what: string
  readonly deleted: number
  readonly kept: number
  readonly reason: string | null
}

function maintain(maxNum = 10_000): Promise<Maintained[]> {
  return rowsOf(pool, 'select what, deleted::int, kept::int, reason from tasks.maintain($1)', [maxNum])
}

async function deletedOf(table: string, maxNum?: number): Promise<Maintained | undefined> {
  return (await maintain(maxNum)).find(({ what }) => what === table)
}

/** Tasks that ended so long ago. */
async function endedTasks(table: string, count: number, ago = '2 days'): Promise<void> {
  await pool.query(
    `insert into tasks.${table} (payload, started_at, finished_at)
     select n, now() - $2::interval, now() - $2::interval + n * interval '1 ms' from generate_series(1, $1) n`,
    [count, ago],
  )
}

function countOf(table: string): Promise<number> {
  return scalarOf(pool, `select count(*)::int from ${table}`)
}

describe('ended tasks', () => {
  it('are deleted past the storage_time of their type, whether finished, failed or canceled, and others never', async () => {
    await createTaskType(pool, 'stored', { settings: `storage_time => '1 day'` })
    const old: string[] = []
    const young: string[] = []
    for (const state of ['finished', 'failed', 'canceled', 'scheduled', 'ready', 'running'] as const) {
      const { id } = await taskInState(pool, 'stored', state)
      old.push(id)
      await pool.query(
        `update tasks.stored set finished_at = finished_at - interval '25 hours', failed_at = failed_at - interval '25 hours',
           canceled_at = canceled_at - interval '25 hours', created_at = created_at - interval '25 hours',
           planned_to = planned_to - case when started_at is null and planned_to > now() then '0' else interval '25 hours' end
         where id = $1`,
        [id],
      )
      // What is ready would be acquired for the next state.
      if (state === 'ready')
        await pool.query('update tasks.stored set planned_to = planned_to + interval $$100 years$$ where id = $1', [id])
    }
    for (const state of ['finished', 'failed', 'canceled'] as const)
      young.push((await taskInState(pool, 'stored', state)).id)

    expect(await deletedOf('tasks.stored')).toEqual({ what: 'tasks.stored', deleted: 3, kept: 0, reason: null })

    const states = (ids: string[]): Promise<Array<State | undefined>> =>
      Promise.all(ids.map((id) => stateOf(pool, 'stored', id)))
    expect(await states(old)).toEqual([undefined, undefined, undefined, 'scheduled', 'scheduled', 'running'])
    expect(await states(young)).toEqual(['finished', 'failed', 'canceled'])
  })

  it('are kept for ever where there is no storage_time', async () => {
    await createTaskType(pool, 'for_ever')
    await endedTasks('for_ever', 3, '10 years')
    expect(await deletedOf('tasks.for_ever')).toBe(undefined)
    expect(await countOf('tasks.for_ever')).toBe(3)
  })

  it('that a foreign key held at their finish go once it is free; failed and canceled ones of such a type stay', async () => {
    await createTaskType(pool, 'at_once', { settings: `storage_time => '0'` })
    await pool.query('create table public.held_at_once (task_id bigint references tasks.at_once)')
    const run = await taskInState(pool, 'at_once', 'running')
    const [failed, canceled] = [
      await taskInState(pool, 'at_once', 'failed'),
      await taskInState(pool, 'at_once', 'canceled'),
    ]
    await pool.query('insert into public.held_at_once values ($1)', [run.id])
    await pool.query('select tasks.finish_tasks_at_once($1)', [run.id])
    expect(await deletedOf('tasks.at_once')).toMatchObject({ deleted: 0, kept: 1 })
    await pool.query('delete from public.held_at_once')
    expect(await deletedOf('tasks.at_once')).toMatchObject({ deleted: 1, kept: 0 })
    expect(await rowsOf(pool, 'select id from tasks.at_once order by id')).toEqual([
      { id: failed.id },
      { id: canceled.id },
    ])
  })

  it('are deleted at most so many in one call, the oldest first', async () => {
    await createTaskType(pool, 'many', { settings: `storage_time => '1 day'` })
    await endedTasks('many', 2_500)
    expect(await deletedOf('tasks.many', 1_700)).toMatchObject({ deleted: 1_700 })
    expect(await scalarOf(pool, 'select min(payload::int) from tasks.many')).toBe(1_701)
    expect(await deletedOf('tasks.many', 1_700)).toMatchObject({ deleted: 800 })
    expect(await deletedOf('tasks.many', 1_700)).toBe(undefined)
  })

  it('of many types share the number, and none is left out for ever', async () => {
    const tables = ['shares_a', 'shares_b', 'shares_c']
    for (const table of tables) {
      await createTaskType(pool, table, { settings: `storage_time => '1 day'` })
      await endedTasks(table, 200)
    }
    const seen = new Set<string>()
    for (let call = 0; call < 40 && seen.size < 3; call += 1) {
      const maintained = await maintain(10)
      expect(maintained.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(10)
      for (const { what } of maintained) seen.add(what)
    }
    expect(seen.size).toBe(3)
    await maintain()
  })
})

describe('what can not be deleted', () => {
  it('because a foreign key of the user holds it is passed by and reported with the reason', async () => {
    await createTaskType(pool, 'held', { settings: `storage_time => '1 day'` })
    await pool.query('create table public.audit (task_id bigint references tasks.held)')
    await endedTasks('held', 100)
    await pool.query('insert into public.audit select id from tasks.held order by id limit 10')
    expect(await deletedOf('tasks.held')).toEqual({
      what: 'tasks.held',
      deleted: 90,
      kept: 10,
      reason: 'update or delete on table "held" violates foreign key constraint "audit_task_id_fkey" on table "audit"',
    })
    await endedTasks('held', 5)
    expect(await deletedOf('tasks.held')).toMatchObject({ deleted: 5, kept: 10 })
    await pool.query('drop table public.audit')
    expect(await deletedOf('tasks.held')).toMatchObject({ deleted: 10, kept: 0, reason: null })
  })

  it('does not keep others from being deleted, however many they are, and costs no transaction number each', async () => {
    await createTaskType(pool, 'all_held', { settings: `storage_time => '1 day'` })
    await pool.query('create table public.protocol (task_id bigint references tasks.all_held)')
    await endedTasks('all_held', 12_000)
    await pool.query('insert into public.protocol select id from tasks.all_held')
    await pool.query('create index on public.protocol (task_id)')
    await endedTasks('all_held', 50, '30 hours')
    const before = BigInt(await scalarOf<string>(pool, 'select pg_current_xact_id()::text'))
    expect(await deletedOf('tasks.all_held')).toMatchObject({ deleted: 50, kept: 1_000 })
    const after = BigInt(await scalarOf<string>(pool, 'select pg_current_xact_id()::text'))
    // Files that run beside this one use some too; a try each would be 12,000 and more.
    expect(after - before).toBeLessThan(2_000n)
    await pool.query('drop table public.protocol')
    await pool.query('truncate tasks.all_held')
  })

  it('because of a foreign key that the caller may not see is found by trying', async () => {
    await createTaskType(pool, 'hidden', { settings: `storage_time => '1 day'` })
    await pool.query('create schema secret')
    await pool.query('create table secret.protocol (task_id bigint references tasks.hidden)')
    await endedTasks('hidden', 20)
    await pool.query('insert into secret.protocol select id from tasks.hidden order by id limit 3')
    const role = await database.createRole('cleaner')
    await pool.query(`select tasks.grant_to($1, 'worker', 'tasks', 'hidden')`, [role.name])
    const session = await database.client()
    await session.query(`set role ${role.name}`)
    expect(await rowsOf(session, 'select what, deleted::int, kept::int from tasks.maintain()')).toContainEqual({
      what: 'tasks.hidden',
      deleted: 17,
      kept: 3,
    })
    await pool.query('drop table secret.protocol')
  })

  it('because rows of the table itself refer to it goes with those', async () => {
    await createTaskType(pool, 'tree', {
      columns: 'payload text, parent bigint references tasks.tree',
      settings: `storage_time => '1 day'`,
    })
    await endedTasks('tree', 10)
    await pool.query('update tasks.tree set parent = 1 + id % 10')
    expect(await deletedOf('tasks.tree')).toMatchObject({ deleted: 10, kept: 0 })
  })

  it('because a trigger keeps it back is reported', async () => {
    await createTaskType(pool, 'kept_back', { settings: `storage_time => '1 day'` })
    await pool.query('create function public.keep() returns trigger language plpgsql as $$ begin return null; end $$')
    await pool.query(
      'create trigger keep before delete on tasks.kept_back for each row when (old.id <= 2) execute function public.keep()',
    )
    await endedTasks('kept_back', 5)
    expect(await deletedOf('tasks.kept_back')).toEqual({
      what: 'tasks.kept_back',
      deleted: 3,
      kept: 2,
      reason: 'kept back by a trigger or by row level security',
    })
    await pool.query('drop trigger keep on tasks.kept_back')
  })

  it('because somebody locks it is only late', async () => {
    await createTaskType(pool, 'locked', { settings: `storage_time => '1 day'` })
    await endedTasks('locked', 5)
    const session = await database.client()
    await session.query('begin')
    await session.query('select from tasks.locked where id <= 2 for key share')
    expect(await within(deletedOf('tasks.locked'))).toEqual({ what: 'tasks.locked', deleted: 3, kept: 0, reason: null })
    await session.query('rollback')
    expect(await deletedOf('tasks.locked')).toMatchObject({ deleted: 2 })
  })
})

it('goes on past a type that can not be cleaned, and says why', async () => {
  for (const table of ['broken', 'sound']) {
    await createTaskType(pool, table, { settings: `storage_time => '1 day'` })
    await endedTasks(table, 3)
  }
  await pool.query('drop function tasks.clean_before_tasks_broken')
  const maintained = await maintain()
  expect(maintained).toContainEqual({
    what: 'tasks.broken',
    deleted: 0,
    kept: 0,
    reason: expect.stringContaining(
      'clean_before_tasks_broken(timestamp with time zone, text[], bigint) does not exist',
    ),
  })
  expect(maintained).toContainEqual({ what: 'tasks.sound', deleted: 3, kept: 0, reason: null })
  await pool.query(`select tasks.unregister('tasks', 'broken')`)
})

it('passes by what the caller may not delete', async () => {
  for (const table of ['mine', 'theirs']) {
    await createTaskType(pool, table, { settings: `storage_time => '1 day'` })
    await endedTasks(table, 3)
  }
  const role = await database.createRole('worker')
  await pool.query(`select tasks.grant_to($1, 'worker', 'tasks', 'mine')`, [role.name])
  const session = await database.client()
  const notices: string[] = []
  session.on('notice', ({ message }) => notices.push(message ?? ''))
  await session.query(`set role ${role.name}`)
  expect(await rowsOf(session, `select what, deleted::int from tasks.maintain() where what like 'tasks.%'`)).toEqual([
    { what: 'tasks.mine', deleted: 3 },
  ])
  expect(notices).toEqual([])
  expect(await countOf('tasks.theirs')).toBe(3)
})

describe('the ledger', () => {
  async function occurrences(key: string, ago: string, count = 1, watched = false): Promise<void> {
    await pool.query(
      `insert into tasks.occurrences (schedule_key, occurrence_at, trigger, revision, outcome, table_id, watched, created_at)
       select $1, now() - $2::interval + n * interval '1 s', 'schedule', 1, 'enqueued', 'tasks.for_ever'::regclass, $4, now() - $2::interval
       from generate_series(1, $3) n`,
      [key, ago, count, watched],
    )
  }
  const left = (key: string) =>
    scalarOf<number>(pool, 'select count(*)::int from tasks.occurrences where schedule_key = $1', [key])

  it('loses what is older than a week and is not watched, in bounded calls', async () => {
    await maintain()
    await occurrences('old', '8 days', 30)
    await occurrences('young', '6 days', 5)
    await occurrences('watched', '8 days', 5, true)
    expect(await deletedOf('tasks.occurrences', 20)).toEqual({
      what: 'tasks.occurrences',
      deleted: 20,
      kept: 0,
      reason: null,
    })
    expect(await deletedOf('tasks.occurrences', 20)).toMatchObject({ deleted: 10 })
    expect([await left('old'), await left('young'), await left('watched')]).toEqual([0, 5, 5])
  })

  it('is kept as long as any schedule may catch up', async () => {
    await pool.query(
      `insert into tasks.schedules (key, table_id, cron, catch_up_window) values ('patient', 'tasks.for_ever'::regclass, '0 0 1 1 *', '30 days')`,
    )
    await occurrences('patient', '29 days')
    await occurrences('older', '31 days')
    expect(await deletedOf('tasks.occurrences')).toMatchObject({ deleted: 1 })
    expect([await left('patient'), await left('older')]).toEqual([1, 0])
    await pool.query('delete from tasks.schedules')
  })
})

it('deletes the marks of dropped tables, in bounded calls, and no others', async () => {
  await maintain()
  const oids: number[] = []
  for (const table of ['gone_a', 'gone_b', 'stays']) {
    await createTaskType(pool, table)
    await pool.query(`insert into tasks.${table} (payload) select n from generate_series(1, 30) n`)
    oids.push(await scalarOf(pool, `select $1::regclass::oid`, [`tasks.${table}`]))
    await pool.query(
      `insert into tasks.marks (table_id, task_id, step, created_at, attempt)
       select $1::regclass, id, 's', created_at, 1 from tasks.${table}`,
      [`tasks.${table}`],
    )
  }
  await pool.query('drop table tasks.gone_a, tasks.gone_b cascade')
  expect(await deletedOf('tasks.marks', 40)).toEqual({ what: 'tasks.marks', deleted: 40, kept: 0, reason: null })
  expect(await deletedOf('tasks.marks', 40)).toMatchObject({ deleted: 20 })
  expect(await deletedOf('tasks.marks', 40)).toBe(undefined)
  expect(await rowsOf(pool, 'select distinct table_id::oid::int as oid from tasks.marks')).toEqual([{ oid: oids[2] }])
})

it('deletes marks whose task went by a way that no trigger sees, and no others', async () => {
  await createTaskType(pool, 'strayed')
  await pool.query('insert into tasks.strayed (payload) select n from generate_series(1, 1000) n')
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt)
     select 'tasks.strayed'::regclass, id, 's', created_at, 1 from tasks.strayed`,
  )
  const session = await database.client()
  await session.query('set session_replication_role = replica')
  await session.query('delete from tasks.strayed where id % 5 = 0')
  const marks = () =>
    scalarOf<number>(pool, `select count(*)::int from tasks.marks where table_id = 'tasks.strayed'::regclass`)
  expect(await marks()).toBe(1_000)
  let calls = 0
  for (; (await marks()) > 800 && calls < 500; calls += 1) await maintain()
  expect(await marks()).toBe(800)
  // A part at a time.
  expect(calls).toBeGreaterThan(1)
})

it('goes on past marks of a table that is no task table any more', async () => {
  await createTaskType(pool, 'repurposed')
  await createTaskType(pool, 'after', { settings: `storage_time => '1 hour'` })
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt) values ('tasks.repurposed'::regclass, 1, 's', now(), 1);
     insert into tasks.leases values (gen_random_uuid(), 'tasks.after'::regclass, now() - interval '1 day');
     select tasks.unregister('tasks', 'repurposed');
     alter table tasks.repurposed drop column created_at`,
  )
  expect(await rowsOf(pool, 'select what from tasks.maintain()')).toEqual([{ what: 'tasks.leases' }])
  await pool.query(`drop table tasks.repurposed; select tasks.unregister('tasks', 'after')`)
  expect(await rowsOf(pool, 'select what from tasks.maintain()')).toEqual([{ what: 'tasks.marks' }])
})

it('deletes no marks of tasks that the caller may not see', async () => {
  await createTaskType(pool, 'unseen')
  await pool.query('insert into tasks.unseen (payload) values (null)')
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt)
     select 'tasks.unseen'::regclass, id, 's', created_at, 1 from tasks.unseen`,
  )
  const role = await database.createRole('blind')
  await pool.query(`select tasks.grant_to($1, 'worker', 'tasks', 'unseen')`, [role.name])
  await pool.query('alter table tasks.unseen enable row level security')
  const session = await database.client()
  await session.query(`set role ${role.name}`)
  expect(await rowsOf(session, 'select from tasks.unseen')).toEqual([])
  await session.query('select * from tasks.maintain()')
  expect(await scalarOf(pool, `select count(*)::int from tasks.marks where table_id = 'tasks.unseen'::regclass`)).toBe(
    1,
  )
})

describe('leases', () => {
  async function lease(table: string, until: string): Promise<string> {
    return scalarOf(
      pool,
      `insert into tasks.leases (worker_id, table_id, leased_until)
       values (gen_random_uuid(), $1::regclass, now() + $2::interval) returning worker_id`,
      [`tasks.${table}`, until],
    )
  }
  const leases = async (table: string) =>
    (
      await rowsOf<{ id: string }>(pool, `select worker_id as id from tasks.leases where table_id = $1::regclass`, [
        `tasks.${table}`,
      ])
    ).map(({ id }) => id)

  it('of workers that died go, with their tasks brought back, where no worker of the type is left to do it', async () => {
    await createTaskType(pool, 'orphaned')
    const dead = await lease('orphaned', '1 hour')
    const alive = await lease('orphaned', '1 hour')
    const [task] = await rowsOf<{ id: string }>(pool, `insert into tasks.orphaned (payload) values (null) returning id`)
    await pool.query('select * from tasks.acquire_tasks_orphaned(1, $1)', [dead])
    await pool.query(`update tasks.leases set leased_until = now() - interval '2 minutes' where worker_id = $1`, [dead])
    expect(await deletedOf('tasks.leases')).toEqual({ what: 'tasks.leases', deleted: 1, kept: 0, reason: null })
    expect(await leases('orphaned')).toEqual([alive])
    expect(await stateOf(pool, 'orphaned', task?.id as string)).toBe('ready')
  })

  it('that ended a moment ago are left to the workers of the type', async () => {
    await createTaskType(pool, 'recent')
    const recent = await lease('recent', '-1 s')
    expect(await deletedOf('tasks.leases')).toBe(undefined)
    expect(await leases('recent')).toEqual([recent])
  })

  it('of dropped tables go', async () => {
    await createTaskType(pool, 'left')
    await lease('left', '100 years')
    await pool.query('drop table tasks.left cascade')
    expect(await deletedOf('tasks.leases')).toMatchObject({ deleted: 1 })
  })
})

describe('the history', () => {
  it('gets partitions for the days to come, and loses those of days past', async () => {
    await createTaskType(pool, 'recorded')
    await pool.query(`select tasks.keep_history('tasks', 'recorded', '2 days')`)
    const partitions = () =>
      scalarOf<string[]>(
        pool,
        `select array_agg(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') - (now() at time zone 'UTC')::date
           order by 1) from pg_inherits where inhparent = 'tasks.attempts'::regclass and inhrelid::regclass::text !~ 'default'`,
      )
    expect(await partitions()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    await moveClock(pool, '5 days')
    expect(await deletedOf('tasks.attempts')).toMatchObject({ deleted: 3 })
    expect(await partitions()).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    await moveClock(pool, '0')
  })

  it('is left for another time while somebody reads it, and the rest is done', async () => {
    await createTaskType(pool, 'beside_history', { settings: `storage_time => '1 day'` })
    await endedTasks('beside_history', 3)
    const reader = await database.client()
    await reader.query('begin')
    await reader.query('select from tasks.attempts')
    await moveClock(pool, '6 days')
    expect(await within(deletedOf('tasks.beside_history'), { timeoutMs: 2_000 })).toMatchObject({ deleted: 3 })
    await moveClock(pool, '0')
    await reader.query('rollback')
  })
})

it('is one call at a time: another one returns at once with nothing', async () => {
  await createTaskType(pool, 'one_by_one', { settings: `storage_time => '1 day'` })
  await endedTasks('one_by_one', 3)
  const session = await database.client()
  await session.query('begin')
  expect(await rowsOf(session, `select deleted::int from tasks.maintain() where what = 'tasks.one_by_one'`)).toEqual([
    { deleted: 3 },
  ])
  expect(await within(maintain())).toEqual([])
  await session.query('rollback')
  expect(await deletedOf('tasks.one_by_one')).toMatchObject({ deleted: 3 })
})

it.each(['0', '-1', 'null'])('refuses p_max_num %s', async (maxNum) => {
  const refusal = await refusalOf(pool.query(`select tasks.maintain(${maxNum})`))
  expect(refusal).toMatchObject({ code: 'TQ003', message: 'maintain: p_max_num must be at least 1' })
})
