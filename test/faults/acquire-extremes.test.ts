import { afterEach, beforeAll, expect, it } from 'vitest'
import { createTaskType } from '../integration/sql/create-task-type.js'
import { moveClock } from '../integration/sql/move-clock.js'
import { refusalOf } from '../integration/sql/refusal-of.js'
import { rowsOf, scalarOf } from '../integration/sql/rows-of.js'
import { stateOf } from '../integration/sql/task-in-state.js'
import { createDatabase } from '../support/test-database.js'

const database = await createDatabase()
const session = await database.client()
const worker = '33333333-3333-4333-8333-333333333333'

beforeAll(() => createTaskType(session, 'mail', { settings: "timeout => '10 s', max_retries => null" }))

afterEach(async () => {
  await moveClock(session, '0')
  await session.query('truncate tasks.mail')
  await session.query('truncate tasks.leases')
  await session.query('reset all') // the acquire cursor
})

// O-35
it.each([
  ['null', 'NULL'],
  ['0', '0'],
  ['-1', '-1'],
  ['10001', '10001'],
])('refuses max_num %s and claims nothing', async (argument, shown) => {
  await session.query('insert into tasks.mail default values')
  const error = await refusalOf(session.query(`select * from tasks.acquire_tasks_mail(${argument})`))
  expect(error).toMatchObject({ code: 'TQ003', message: `acquire: max_num must be between 1 and 10000, not ${shown}` })
  expect(await scalarOf(session, 'select count(started_at) from tasks.mail')).toBe('0')
})

it('refuses the nil uuid as a worker, which no rescue would find', async () => {
  const nil = '00000000-0000-0000-0000-000000000000'
  expect((await refusalOf(session.query('select * from tasks.acquire_tasks_mail(1, $1)', [nil]))).message).toContain(
    'worker_id',
  )
  expect(
    (await refusalOf(session.query("select * from tasks.heartbeat_tasks_mail($1, '{}', '{}')", [nil]))).message,
  ).toContain('worker_id')
})

// B-27
it('runs -infinity and BC at once, and never infinity or the last year there is', async () => {
  await session.query(
    "insert into tasks.mail (payload, planned_to) select p, p::timestamptz from unnest('{infinity,-infinity,294276-12-31,0044-03-15 BC}'::text[]) p",
  )
  for (const workerId of [null, worker]) {
    const rows = await rowsOf(session, 'select payload from tasks.acquire_tasks_mail(10, $1)', [workerId])
    expect(rows).toEqual(workerId === null ? [{ payload: '-infinity' }, { payload: '0044-03-15 BC' }] : [])
    await scalarOf(session, 'select ready_in from tasks.next_due_tasks_mail($1)', [workerId])
  }
})

it('says when the next task is due, whatever its planned_to', async () => {
  const readyIn = () => scalarOf<number | null>(session, 'select ready_in from tasks.next_due_tasks_mail()')
  expect(await readyIn()).toBeNull()
  await session.query("insert into tasks.mail (planned_to) values ('infinity')")
  expect(await readyIn()).toBeNull()
  await session.query("insert into tasks.mail (planned_to) values ('294276-12-31')")
  expect(await readyIn()).toBeGreaterThan(9e15)
  await session.query("insert into tasks.mail (planned_to, priority) values (tasks.clock() + interval '1 hour', 3)")
  expect(await readyIn()).toBeGreaterThan(3_590_000)
  expect(await readyIn()).toBeLessThanOrEqual(3_600_000)
  for (const due of ['now()', "'0044-03-15 BC'", "'-infinity'"]) {
    await session.query(`insert into tasks.mail (planned_to) values (${due})`)
    expect(await readyIn()).toBe(0)
  }
})

it('passes by none of several tasks at -infinity, with ids on both sides of zero, also from its cursor', async () => {
  await session.query(
    "insert into tasks.mail (id, planned_to) select g, '-infinity' from unnest('{-9223372036854775807,-5,0,1,2,9223372036854775807}'::bigint[]) g",
  )
  const ids: string[] = []
  for (;;) {
    const rows = await rowsOf(session, 'select id from tasks.acquire_tasks_mail(1, $1)', [worker])
    if (rows.length === 0) break
    ids.push(rows[0]?.id)
  }
  expect(ids.slice(1)).toEqual(['-5', '0', '1', '2', '9223372036854775807'])
  expect(ids[0]).toBe('-9223372036854775807')
})

// B-25
it.each(['2147483646', '9007199254740990'])('works through every verb with ids around %s', async (start) => {
  await session.query(`alter table tasks.mail alter column id restart with ${start}`)
  await session.query("insert into tasks.mail (planned_to) select '2020-01-01' from generate_series(1, 6)")
  const first = BigInt(start)
  const ids = Array.from({ length: 6 }, (_, index) => String(first + BigInt(index)))
  const runs = await rowsOf(session, 'select id, run_token as token from tasks.acquire_tasks_mail(10, $1)', [worker])
  expect(runs.map((run) => run.id)).toEqual(ids)
  expect(
    await rowsOf(session, 'select gone_ids from tasks.heartbeat_tasks_mail($1, $2, $3)', [
      worker,
      ids,
      runs.map((run) => run.token),
    ]),
  ).toEqual([{ gone_ids: null }])
  const call = (text: string, index: number) => scalarOf(session, text, [ids[index], runs[index]?.token])
  expect(await call('select tasks.finish_tasks_mail($1, run_token => $2)', 0)).toBe('finished')
  expect(await call('select tasks.retry_tasks_mail($1, run_token => $2)', 1)).toBe('scheduled')
  expect(await call('select tasks.cancel_tasks_mail($1, run_token => $2)', 2)).toBe('running')
  expect(await call('select tasks.release_tasks_mail($1, $2)', 3)).toBe(true)
  expect(await scalarOf(session, 'select tasks.reset_tasks_mail($1)', [ids[4]])).toBe('running')
  expect(
    await rowsOf(session, 'select * from tasks.finish_many_tasks_mail(array[$1]::bigint[], array[$2]::uuid[])', [
      ids[5],
      runs[5]?.token,
    ]),
  ).toEqual([])
  expect(await scalarOf(session, "select tasks.clean_tasks_mail('0', '{finished,canceled}')")).toBe('3')
})

it('works with the integer ids of old tables', async () => {
  await session.query(`
    create table tasks.old (like tasks.template including defaults including indexes, payload text);
    alter table tasks.old alter column id type integer, alter column id add generated by default as identity;
    select tasks.register('tasks', 'old', max_retries => 0, timeout => '10 s');
    insert into tasks.old (id, planned_to) values (2147483647, '2020-01-01'), (1, '2020-01-01'), (2, '2020-01-01')`)
  const runs = await rowsOf(session, 'select id, run_token as token from tasks.acquire_tasks_old(10, $1)', [worker])
  expect(runs.map((run) => run.id)).toEqual([1, 2, 2_147_483_647])
  expect(
    await rowsOf(session, 'select gone_ids from tasks.heartbeat_tasks_old($1, $2, $3)', [
      worker,
      runs.map((run) => run.id),
      runs.map((run) => run.token),
    ]),
  ).toEqual([{ gone_ids: null }])
  expect(await scalarOf(session, 'select tasks.release_tasks_old(1, $1)', [runs[0]?.token])).toBe(true)
  await session.query('reset all')
  expect(await rowsOf(session, 'select id from tasks.acquire_tasks_old(10, $1)', [worker])).toEqual([{ id: 1 }])
  expect(
    await rowsOf(session, 'select * from tasks.finish_many_tasks_old($1, $2)', [
      runs.map((run) => run.id),
      runs.map((run) => run.token),
    ]),
  ).toEqual([{ task_id: '1', outcome: 'stale' }])
  expect((await refusalOf(session.query('select tasks.finish_tasks_old(3000000000)'))).code).toBe('TQ002')
  await moveClock(session, '1 hour')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_old()')).toBe('1')
  expect(await rowsOf(session, 'select id, failure_reason from tasks.old where failed_at is not null')).toEqual([
    { id: 1, failure_reason: 'lost' },
  ])
  expect(await scalarOf(session, "select tasks.clean_before_tasks_old('infinity', '{finished,failed}')")).toBe('3')
})

// B-24
it('stops counting at the largest integer instead of failing', async () => {
  await session.query('insert into tasks.mail (execution_count) values (2147483647)')
  await session.query('insert into tasks.mail select from generate_series(1, 50)')
  const rows = await rowsOf(session, 'select id, execution_count from tasks.acquire_tasks_mail(100)')
  expect(rows).toHaveLength(51)
  expect(rows[0]?.execution_count).toBe(2_147_483_647)
  await moveClock(session, '1 minute')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('51')
  expect(await rowsOf(session, 'select id from tasks.acquire_tasks_mail(100)')).toHaveLength(51)
  expect(await scalarOf(session, 'select tasks.retry_tasks_mail($1)', [rows[0]?.id])).toBe('scheduled')
})

it('counts losses up to the largest smallint', async () => {
  await session.query("insert into tasks.mail (lost_count, planned_to) values (32767, '2020-01-01')")
  await session.query('select tasks.acquire_tasks_mail(1)')
  await moveClock(session, '1 minute')
  expect(await scalarOf(session, 'select tasks.rescue_tasks_mail()')).toBe('1')
  expect(
    await rowsOf(session, "select lost_count, planned_to <= tasks.clock() + interval '1 hour' as soon from tasks.mail"),
  ).toEqual([{ lost_count: 32_767, soon: true }])
})

it('refuses every verb of a table that is not registered any more, and says so', async () => {
  await createTaskType(session, 'left_over')
  const id = await scalarOf<string>(session, 'insert into tasks.left_over default values returning id')
  await session.query("delete from tasks.types where table_name = 'left_over'")
  const calls = {
    acquire: '1',
    rescue: '',
    heartbeat: `'${worker}', '{}', '{}'`,
    finish: id,
    finish_many: "'{}', '{}'",
    retry: id,
    release: `${id}, '${worker}'`,
    cancel: id,
    reset: id,
    clean: "'0'",
    clean_before: 'now()',
  }
  for (const [verb, args] of Object.entries(calls)) {
    const error = await refusalOf(session.query(`select tasks.${verb}_tasks_left_over(${args})`))
    expect(error, verb).toMatchObject({ code: 'TQ004', message: `${verb}: tasks.left_over is not registered` })
    expect(error.hint).toContain('tasks.register')
  }
  expect(await stateOf(session, 'left_over', id)).toBe('ready')
})
