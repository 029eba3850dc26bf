import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestRole } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

const database = await createDatabase()
const owner = await database.client()
const kinds = ['producer', 'worker', 'operator', 'reader', 'stranger'] as const
type Kind = (typeof kinds)[number]
const roles = {} as Record<Kind, TestRole>
const clients = {} as Record<Kind, Client>

beforeAll(async () => {
  await owner.query('create schema app')
  await owner.query(
    'create table app.mail (like tasks.template including defaults including identity including indexes, payload text)',
  )
  await owner.query("select tasks.register('app', 'mail', timeout => '10 s', max_retries => 1)")
  await createTaskType(owner, 'other')
  // The hardest case: nothing is left to PUBLIC.
  await owner.query('revoke execute on all functions in schema tasks from public')
  for (const kind of kinds) {
    roles[kind] = await database.createRole(kind)
    if (kind !== 'stranger')
      await owner.query('select tasks.grant_to($1, $2, $3, $4)', [roles[kind].name, kind, 'app', 'mail'])
    clients[kind] = new Client({ connectionString: roles[kind].url, application_name: 'test client' })
    await clients[kind].connect()
  }
})

afterAll(async () => {
  for (const kind of kinds) {
    await clients[kind].end()
    await owner.query(`drop owned by "${roles[kind].name}"`)
  }
})

const enqueue = (count = 1) =>
  owner.query("insert into app.mail (planned_to) select '2020-01-01' from generate_series(1, $1)", [count])
const startRun = async () => {
  await owner.query('truncate app.mail')
  await enqueue()
  return (await rowsOf(clients.worker, 'select id, run_token as token from tasks.acquire_app_mail(1)'))[0] as {
    id: string
    token: string
  }
}
/** Whether the database refuses the query for lack of a right. */
async function mayNot(kind: Kind, ...queries: string[]): Promise<void> {
  for (const query of queries)
    expect((await refusalOf(clients[kind].query(query))).code, `${kind}: ${query}`).toBe('42501')
}

describe('a producer', () => {
  // O-09
  it('enqueues, learns the id, and wakes workers', async () => {
    const heard: string[] = []
    const listener = await database.client()
    listener.on('notification', (notification) => heard.push(notification.payload ?? ''))
    await listener.query('listen pg_tasks')
    const id = await scalarOf(
      clients.producer,
      "insert into app.mail (payload, planned_to) values ('a', tasks.clock()) returning id",
    )
    expect(id).toMatch(/^\d+$/)
    await listener.query('select')
    expect(heard).toEqual(['app.mail'])
    await listener.end()
  })

  it('enqueues where tasks are unique, and leaves, replaces, postpones or advances what is there', async () => {
    await owner.query(
      'create table app.single (like tasks.template including defaults including identity including indexes, recipient text, body text, double text generated always as (body || body) stored)',
    )
    await owner.query("select tasks.register('app', 'single'), tasks.unique_while('app', 'single', '{recipient}')")
    await owner.query("select tasks.grant_to($1, 'producer', 'app', 'single')", [roles.producer.name])
    const enqueueOne =
      "select outcome from tasks.enqueue('app.single', '[{\"recipient\": \"a@example.com\"}]', 'ignore')"
    expect(await scalarOf(clients.producer, enqueueOne)).toBe('enqueued')
    expect(await scalarOf(clients.producer, enqueueOne)).toBe('ignored')
    const row = '[{"recipient": "a@example.com", "body": "second", "priority": 2, "comment": "changed"}]'
    for (const [mode, outcome] of [
      ['replace', 'replaced'],
      ['postpone', 'postponed'],
      ['advance', 'advanced'],
    ]) {
      for (const delay of [null, '1 hour'])
        expect(
          await scalarOf(clients.producer, "select outcome from tasks.enqueue('app.single', $1, $2, $3)", [
            row,
            mode,
            delay,
          ]),
        ).toBe(outcome)
    }
    expect(await rowsOf(owner, 'select recipient, body, double, priority, comment from app.single')).toEqual([
      { recipient: 'a@example.com', body: 'second', double: 'secondsecond', priority: 2, comment: 'changed' },
    ])
    // Of what is unique alone, nothing is left to replace.
    expect(await scalarOf(clients.producer, enqueueOne.replace('ignore', 'replace'))).toBe('replaced')
    // It reads no payload, and writes nothing of what a run writes.
    await mayNot(
      'producer',
      'select comment from app.single',
      'select body from app.single',
      'update app.single set body = body',
      ...[
        'started_at = now()',
        'finished_at = now()',
        'failed_at = now()',
        'canceled = true',
        'execution_count = 0',
      ].map((change) => `update app.single set ${change}`),
      'update app.single set run_token = gen_random_uuid()',
      'update app.single set id = default',
      'delete from app.single',
    )
    await owner.query('drop table app.single cascade')
  })

  it('creates groups, with and without members, whose callback it may enqueue', async () => {
    await owner.query("select tasks.use_groups('app', 'mail')")
    const { producer } = clients
    await owner.query('truncate app.mail')
    await producer.query('begin')
    await producer.query("select tasks.create_group('full', 'app', 'mail', '{\"payload\": \"all sent\"}')")
    await producer.query("insert into app.mail (payload, group_key, planned_to) values ('one', 'full', '2020-01-01')")
    await producer.query('commit')
    expect(await rowsOf(owner, "select ended_at, error from tasks.groups where key = 'full'")).toEqual([
      { ended_at: null, error: null },
    ])
    const [run] = await rowsOf(clients.worker, 'select id from tasks.acquire_app_mail(1)')
    await clients.worker.query('select tasks.finish_app_mail($1)', [run?.id])
    expect(await rowsOf(owner, "select payload, comment from app.mail where payload = 'all sent'")).toEqual([
      { payload: 'all sent', comment: 'group full: 1 finished, 0 failed, 0 canceled' },
    ])
    await producer.query("select tasks.create_group('empty', 'app', 'mail', '{\"payload\": \"nothing to do\"}')")
    expect(await scalarOf(owner, "select callback_id is not null from tasks.groups where key = 'empty'")).toBe(true)
    expect(await scalarOf(owner, "select count(*) from app.mail where payload = 'nothing to do'")).toBe('1')
    // Neither may it have others enqueue what it may not, nor look at groups or change them.
    await mayNot(
      'producer',
      "select tasks.create_group('foreign', 'tasks', 'other')",
      "insert into tasks.groups (key, callback_table) values ('foreign', 'tasks.other')",
      "update tasks.groups set callback_table = 'tasks.other'",
      'update tasks.groups set ended_at = now()',
      'select * from tasks.groups',
      'delete from tasks.groups',
      "select tasks.use_groups('app', 'mail')",
    )
    await owner.query('truncate app.mail, tasks.groups')
  })

  it('reads, changes, deletes and runs nothing', async () => {
    await enqueue()
    await mayNot(
      'producer',
      'select payload from app.mail',
      'update app.mail set priority = 1',
      'delete from app.mail',
      'truncate app.mail',
      'select * from tasks.acquire_app_mail(1)',
      'select tasks.finish_app_mail(1)',
      'select tasks.cancel_app_mail(1)',
      'select tasks.rescue_app_mail()',
      "select tasks.clean_app_mail('0')",
      'select * from tasks.types',
      'select * from tasks.stats',
      'insert into tasks.other default values',
      "select tasks.register('app', 'mail')",
      "select tasks.unregister('app', 'mail')",
      "select tasks.configure('app', 'mail', 'timeout', '1 s')",
      "select tasks.refresh('app.mail'::regclass)",
      'alter table app.mail add column x integer',
    )
  })
})

describe('a worker', () => {
  it('does all that a run needs, with a lease and without', async () => {
    const { worker } = clients
    await owner.query('truncate app.mail')
    await enqueue(8)
    const id = await scalarOf<string>(worker, 'select gen_random_uuid()')
    const runs = await rowsOf(worker, 'select id, run_token as token from tasks.acquire_app_mail(6, $1)', [id])
    expect(runs).toHaveLength(6)
    const of = (index: number) => [runs[index]?.id, runs[index]?.token]
    await worker.query('select * from tasks.heartbeat_app_mail($1, array[$2]::bigint[], array[$3]::uuid[], true)', [
      id,
      ...of(0),
    ])
    expect(await scalarOf(worker, 'select tasks.finish_app_mail($1, run_token => $2)', of(0))).toBe('finished')
    expect(
      await rowsOf(worker, 'select * from tasks.finish_many_app_mail(array[$1]::bigint[], array[$2]::uuid[])', of(1)),
    ).toEqual([])
    expect(await scalarOf(worker, 'select tasks.retry_app_mail($1, run_token => $2)', of(2))).toBe('scheduled')
    expect(await scalarOf(worker, 'select tasks.release_app_mail($1, $2)', of(3))).toBe(true)
    expect(await scalarOf(worker, 'select tasks.cancel_app_mail($1, run_token => $2)', of(4))).toBe('running')
    expect(await scalarOf(worker, 'select tasks.reset_app_mail($1)', of(5).slice(0, 1))).toBe('running')
    await worker.query('select * from tasks.next_due_app_mail($1)', [id])
    expect(await rowsOf(worker, 'select id from tasks.acquire_app_mail(1)')).toHaveLength(1)
    await moveClock(owner, '1 minute')
    expect(await scalarOf(worker, 'select tasks.rescue_app_mail()')).toBe('1')
    await moveClock(owner, '0')
    expect(await scalarOf(worker, "select tasks.clean_app_mail('0', '{finished,canceled}')")).toBe('3')
    await worker.query("select * from tasks.describe('app', 'mail')")
    await worker.query(
      "select tasks.fall_asleep(o), tasks.wake_up(o), tasks.nothing_in_flight(o), tasks.stay_awake(o), tasks.stop_awake(o) from (select 'app.mail'::regclass::oid) s (o)",
    )
    await worker.query('select * from tasks.maintain()')
    await worker.query('select number from tasks.migrations')
    expect(await scalarOf(worker, 'select total from tasks.stats_of_app_mail')).toBe('5')
    await refusalOf(worker.query('select tasks.finish_app_mail(999999)')).then((error) =>
      expect(error.code).toBe('TQ002'),
    )
  })

  it('brings the functions up to date after a rename, without a right to any DDL', async () => {
    await owner.query('alter table app.mail rename to letter')
    expect((await refusalOf(clients.worker.query('select tasks.acquire_app_mail(1)'))).code).toBe('42P01')
    expect(await scalarOf(clients.worker, "select tasks.refresh('app.letter'::regclass)")).toBe(true)
    await clients.worker.query('select tasks.acquire_app_mail(1)')
    await owner.query('alter table app.letter rename to mail')
    expect(await scalarOf(clients.worker, "select tasks.refresh('app.mail'::regclass)")).toBe(true)
  })

  it('makes and changes no objects and no settings, and touches no other type', async () => {
    await mayNot(
      'worker',
      'alter table app.mail add column x integer',
      'drop table app.mail',
      'truncate app.mail',
      "select tasks.register('app', 'mail', max_retries => 9)",
      "select tasks.unregister('app', 'mail')",
      "select tasks.configure('app', 'mail', 'timeout', '1 s')",
      "update tasks.types set timeout = '1 s'",
      'insert into tasks.migrations (number) values (0)',
      'create table tasks.mine (id integer)',
      'select * from tasks.acquire_tasks_other(1)',
      'select tasks.finish_tasks_other(1)',
      'select * from tasks.other',
      "select tasks.grant_to(current_user, 'worker', 'tasks', 'other')",
    )
  })
})

describe('an operator', () => {
  it('finishes, retries, cancels, resets and cleans, enqueues, and reads everything about the type', async () => {
    const { operator } = clients
    for (const [call, outcome] of [
      ['finish', 'finished'],
      ['retry', 'scheduled'],
      ['cancel', 'running'],
      ['reset', 'running'],
    ]) {
      const { id } = await startRun()
      expect(await scalarOf(operator, `select tasks.${call}_app_mail($1)`, [id])).toBe(outcome)
    }
    await operator.query('insert into app.mail default values')
    await operator.query("update app.mail set planned_to = now() + interval '1 hour', priority = 0")
    const { id } = await startRun()
    await operator.query('select tasks.finish_app_mail($1)', [id])
    expect(await scalarOf(operator, "select tasks.clean_app_mail('0')")).toBe('1')
    expect(await scalarOf(operator, "select tasks.clean_before_app_mail('infinity')")).toBe('0')
    await operator.query(
      'select * from tasks.types; select * from tasks.leases; select * from tasks.stats; select * from tasks.stats_of_app_mail',
    )
  })

  it('acquires nothing and changes no settings, objects or other types', async () => {
    await enqueue()
    await mayNot(
      'operator',
      'select * from tasks.acquire_app_mail(1)',
      'select * from tasks.acquire_app_mail(1, gen_random_uuid())',
      'select tasks.rescue_app_mail()',
      "select * from tasks.heartbeat_app_mail(gen_random_uuid(), '{}', '{}')",
      "select tasks.configure('app', 'mail', 'timeout', '1 s')",
      "select tasks.unregister('app', 'mail')",
      'alter table app.mail add column x integer',
      'truncate app.mail',
      'select tasks.cancel_tasks_other(1)',
      "select tasks.refresh('app.mail'::regclass)",
    )
  })
})

describe('a reader', () => {
  it('sees tasks, types, leases and counts', async () => {
    const { reader } = clients
    await owner.query('truncate app.mail')
    await enqueue(2)
    expect(await scalarOf(reader, 'select count(*) from app.mail')).toBe('2')
    expect(await rowsOf(reader, 'select table_name, ready from tasks.stats where total is not null')).toEqual([
      { table_name: 'mail', ready: '2' },
    ])
    expect(await scalarOf(reader, 'select ready from tasks.stats_of_app_mail')).toBe('2')
    await reader.query('select * from tasks.types; select * from tasks.leases; select number from tasks.migrations')
    await reader.query("select * from tasks.describe('app', 'mail')")
    await reader.query(
      'select tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) from app.mail',
    )
  })

  it('is left out of the counts of tables that it may not read, instead of failing', async () => {
    expect((await rowsOf(clients.reader, 'select table_name from tasks.stats')).map((row) => row.table_name)).toEqual([
      'mail',
    ])
    expect((await rowsOf(owner, 'select table_name from tasks.stats order by 1')).map((row) => row.table_name)).toEqual(
      ['mail', 'other'],
    )
  })

  it('changes nothing', async () => {
    await mayNot(
      'reader',
      'insert into app.mail default values',
      'update app.mail set priority = 1',
      'delete from app.mail',
      'select * from tasks.acquire_app_mail(1)',
      'select tasks.cancel_app_mail(1)',
      'select tasks.reset_app_mail(1)',
      "select tasks.clean_app_mail('0')",
      'delete from tasks.leases',
      'select * from tasks.other',
    )
  })
})

describe('a stranger', () => {
  it('reaches nothing in the schema, whatever PUBLIC may execute', async () => {
    await owner.query('grant execute on all functions in schema tasks to public')
    await mayNot(
      'stranger',
      'select * from tasks.types',
      'select tasks.clock()',
      'select * from tasks.acquire_app_mail(1)',
      'select * from app.mail',
    )
    await owner.query('revoke execute on all functions in schema tasks from public')
  })
})

describe('grant_to', () => {
  it('is idempotent, and gives one role several kinds and tables', async () => {
    const role = await database.createRole('both')
    for (const [kind, schema, table] of [
      ['producer', 'app', 'mail'],
      ['reader', 'tasks', 'other'],
      ['producer', 'app', 'mail'],
    ]) {
      await owner.query('select tasks.grant_to($1, $2, $3, $4)', [role.name, kind, schema, table])
    }
    await owner.query(`set role "${role.name}"`)
    await owner.query('insert into app.mail default values')
    await owner.query('select * from tasks.other; select * from tasks.stats_of_tasks_other')
    expect((await refusalOf(owner.query('select payload from app.mail'))).code).toBe('42501')
    await owner.query('reset role')
    await owner.query(`drop owned by "${role.name}"`)
  })

  it('takes role names of any kind', async () => {
    const name = `Odd "role"; -- ${Date.now()}`
    await owner.query(`create role "${name.replaceAll('"', '""')}"`)
    for (const kind of ['producer', 'worker', 'operator', 'reader'])
      await owner.query("select tasks.grant_to($1, $2, 'app', 'mail')", [name, kind])
    await owner.query(
      "select tasks.register('app', 'mail', timeout => '10 s', max_retries => 1, function_name => 'odd')",
    )
    await owner.query("select tasks.register('app', 'mail', timeout => '10 s', max_retries => 1)")
    await owner.query(`drop owned by "${name.replaceAll('"', '""')}"; drop role "${name.replaceAll('"', '""')}"`)
  })

  it('is carried over to the functions that register makes anew', async () => {
    await owner.query(
      "select tasks.register('app', 'mail', timeout => '10 s', max_retries => 1, function_name => 'post')",
    )
    await owner.query('revoke execute on all functions in schema tasks from public')
    await owner.query('truncate app.mail')
    await enqueue(2)
    const [run] = await rowsOf(clients.worker, 'select id from tasks.acquire_post(1)')
    expect(await scalarOf(clients.operator, 'select tasks.cancel_post($1)', [run?.id])).toBe('running')
    expect(await scalarOf(clients.reader, 'select canceled from tasks.stats_of_post')).toBe('1')
    await mayNot('operator', 'select * from tasks.acquire_post(1)')
    await owner.query('drop function tasks.retry_post')
    await owner.query(
      "select tasks.register('app', 'mail', timeout => '10 s', max_retries => 1, function_name => 'post')",
    )
    await owner.query('revoke execute on all functions in schema tasks from public')
    await clients.worker.query('select id from tasks.acquire_post(1)')
    expect(
      await scalarOf(
        clients.operator,
        'select tasks.retry_post(id) from app.mail where started_at is not null and not canceled',
      ),
    ).toBe('scheduled')
    await owner.query("select tasks.register('app', 'mail', timeout => '10 s', max_retries => 1)")
    await owner.query('revoke execute on all functions in schema tasks from public')
  })

  it('gives the sequence of an id that was made with serial', async () => {
    await owner.query(
      "create table tasks.old (like tasks.template including defaults including indexes); create sequence tasks.old_ids owned by tasks.old.id; alter table tasks.old alter id set default nextval('tasks.old_ids')",
    )
    await owner.query("select tasks.register('tasks', 'old')")
    await owner.query("select tasks.grant_to($1, 'producer', 'tasks', 'old')", [roles.producer.name])
    expect(await scalarOf(clients.producer, 'insert into tasks.old default values returning id')).toBe('1')
  })

  it.each([
    ["'nobody_at_all', 'reader', 'app', 'mail'", 'TQ003', 'grant_to: there is no role nobody_at_all'],
    ["null, 'reader', 'app', 'mail'", 'TQ003', 'grant_to: there is no role NULL'],
    [
      "current_user, 'admin', 'app', 'mail'",
      'TQ003',
      'grant_to: role_kind must be producer, worker, operator or reader, not admin',
    ],
    [
      "current_user, null, 'app', 'mail'",
      'TQ003',
      'grant_to: role_kind must be producer, worker, operator or reader, not NULL',
    ],
    ["current_user, 'reader', 'app', 'nothing'", 'TQ004', 'grant_to: app.nothing is not registered'],
    ["current_user, 'reader', null, null", 'TQ004', 'grant_to: NULL.NULL is not registered'],
  ])('refuses (%s)', async (args, code, message) => {
    expect(await refusalOf(owner.query(`select tasks.grant_to(${args})`))).toMatchObject({ code, message })
  })
})

it('every function that runs with its owner`s rights is taken from PUBLIC when it is created', async () => {
  const fresh = await createDatabase()
  const open = await rowsOf(
    fresh.pool,
    `select p.oid::regprocedure::text as function from pg_proc p
     where p.pronamespace = 'tasks'::regnamespace and p.prosecdef and has_function_privilege('public', p.oid, 'execute')`,
  )
  expect(open).toEqual([])
})

// B-34
it('says so when row level security keeps a row back from an outcome', async () => {
  const { id, token } = await startRun()
  await owner.query('alter table app.mail enable row level security')
  await owner.query('create policy see on app.mail for select using (true)')
  const error = await refusalOf(clients.worker.query('select tasks.finish_app_mail($1, run_token => $2)', [id, token]))
  expect(error).toMatchObject({
    code: 'TQ011',
    message: `finish: task ${id} of app.mail was kept back by a trigger or by row level security`,
  })
  await owner.query('drop policy see on app.mail; alter table app.mail disable row level security')
})
