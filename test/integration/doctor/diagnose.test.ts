import { diagnose, type Finding } from '@pg-tasks/sql'
import { beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'

let database: TestDatabase

beforeEach(async () => {
  database = await createDatabase()
})

async function findings(check: string, options: Parameters<typeof diagnose>[1] = {}): Promise<readonly Finding[]> {
  const results = await diagnose(database.pool, options)
  const result = results.find((one) => one.check === check)
  expect(result).toBeDefined()
  return result?.findings ?? []
}

/** Every problem and remedy must be there, and what a remedy says in SQL must run. */
async function remedied(check: string, [finding]: readonly Finding[]): Promise<void> {
  expect(finding?.problem).toMatch(/\S/)
  await database.pool.query(finding?.remedy ?? 'nothing')
  expect(await findings(check)).toEqual([])
}

describe('diagnose', () => {
  it('finds nothing in a database that is well', async () => {
    await createTaskType(database.pool, 'well')
    await database.pool.query('insert into tasks.well default values')
    const results = await diagnose(database.pool, {
      expected: [{ schema: 'tasks', table: 'well', columns: ['id', 'planned_to'] }],
    })
    expect(results.filter((result) => result.severity !== 'ok')).toEqual([])
    expect(results.map((result) => result.check)).toContain('leases')
  })

  it('says that the schema is missing, and no more', async () => {
    const empty = await createDatabase({ migrations: false })
    const results = await diagnose(empty.pool)
    expect(results).toMatchObject([
      { check: 'migrations', severity: 'critical', findings: [{ remedy: expect.stringContaining('migrate') }] },
    ])
  })

  it('finds a missing index, and its remedy brings it back', async () => {
    await createTaskType(database.pool, 'bare')
    const { rows } = await database.pool.query(
      `select indexrelid::regclass::text as name from pg_index i
       where indrelid = 'tasks.bare'::regclass and pg_get_indexdef(indexrelid) like '%(priority, planned_to, id)%'`,
    )
    await database.pool.query(`drop index ${rows[0]?.name}`)
    const found = await findings('indexes')
    expect(found).toMatchObject([{ severity: 'critical', subject: 'tasks.bare' }])
    await remedied('indexes', found)
  })

  it('finds an invalid index', async () => {
    await createTaskType(database.pool, 'halfway', { columns: 'number integer' })
    await database.pool.query('insert into tasks.halfway (number) values (1), (1)')
    await expect(
      database.pool.query('create unique index concurrently half on tasks.halfway (number)'),
    ).rejects.toThrow()
    const found = await findings('indexes')
    expect(found).toMatchObject([{ severity: 'warning', details: { index: 'tasks.half' } }])
    await database.pool.query('delete from tasks.halfway')
    await remedied('indexes', found)
  })

  it('finds autovacuum that is off for a table', async () => {
    await createTaskType(database.pool, 'unswept')
    await database.pool.query('alter table tasks.unswept set (autovacuum_enabled = false)')
    await remedied('autovacuum', await findings('autovacuum'))
  })

  it('finds what the shape of a table lacks', async () => {
    await createTaskType(database.pool, 'bent')
    await database.pool.query('alter table tasks.bent reset (fillfactor)')
    await remedied('table_shape', await findings('table_shape'))
    await database.pool.query('drop trigger pg_tasks_notify_insert on tasks.bent')
    await remedied('table_shape', await findings('table_shape'))
  })

  it('has a code for all that the shape of a table may lack', async () => {
    await database.pool.query(`
      create table tasks.bare (like tasks.template including defaults including identity);
      select tasks.register('tasks', 'bare');
      alter table tasks.bare drop column comment, drop constraint pg_tasks_priority, drop constraint bare_pkey,
        alter column planned_to drop default, alter column created_at drop not null, alter column last_error type xml using null,
        drop column trace_id, add column trace_id text generated always as ('x') stored;
      drop trigger pg_tasks_notify_update on tasks.bare;
      create trigger pg_tasks_odd after insert on tasks.bare for each statement execute function tasks.forget_marks();
      alter table tasks.bare reset (fillfactor);`)
    const found = await findings('table_shape')
    expect(found.map(({ code }) => code)).toEqual([
      'column_missing',
      'column_type',
      'column_generated',
      'column_without_default',
      'column_nullable',
      'id_not_unique',
      'priority_unchecked',
      'storage_parameter_unset',
      'trigger_missing',
    ])
    // What such a table can't be asked for doesn't keep the others from being looked at.
    await createTaskType(database.pool, 'spent')
    await database.pool.query(`insert into tasks.spent (failed_at, failure_reason) values (now(), 'error')`)
    expect(await findings('failed_tasks')).toMatchObject([{ subject: 'tasks.spent' }])
    expect(found[0]?.details).toEqual({ column: 'comment', type: 'text' })
    expect(found[1]?.details).toEqual({ column: 'last_error', type: 'xml', expected: 'text' })
  })

  it('finds a limit and a rule of unique tasks whose column is gone', async () => {
    await createTaskType(database.pool, 'per_customer', { columns: 'customer_id bigint, order_id bigint' })
    await database.pool.query(
      `select tasks.limit_keys('tasks', 'per_customer', array['customer_id']),
         tasks.unique_while('tasks', 'per_customer', array['customer_id', 'order_id'])`,
    )
    await database.pool.query('alter table tasks.per_customer rename column customer_id to client_id')
    expect(await findings('rules')).toEqual([])
    await database.pool.query('alter table tasks.per_customer drop column client_id')
    const [keys, unique] = await findings('rules')
    expect(keys).toMatchObject({
      severity: 'critical',
      subject: 'tasks.per_customer',
      problem: expect.stringMatching(/limit_keys.* by customer_id.*no task of it is acquired/),
    })
    expect(unique).toMatchObject({
      severity: 'warning',
      problem: expect.stringMatching(/customer_id, order_id.*no longer unique/),
    })
    await database.pool.query(keys?.remedy ?? 'nothing')
    await remedied('rules', [unique as Finding])
  })

  it('names the transaction that keeps dead rows from being removed', async () => {
    await createTaskType(database.pool, 'busy')
    const holder = await database.client()
    await holder.query('begin isolation level repeatable read')
    const { rows } = await holder.query('select pg_backend_pid()::text as pid')
    await database.pool.query('insert into tasks.busy default values')
    expect(await findings('dead_rows')).toEqual([])
    expect(await findings('dead_rows', { snapshotAgeMs: 0 })).toMatchObject([
      { severity: 'info', subject: `session ${rows[0]?.pid}`, remedy: expect.stringContaining(`(${rows[0]?.pid})`) },
    ])
    await database.pool.query(`select pg_stat_reset()`)
    const busy = await database.client()
    await busy.query('insert into tasks.busy select from generate_series(1, 200)')
    await busy.query('delete from tasks.busy')
    // A session sends its counts when it ends, at the latest.
    await busy.end()
    await expect
      .poll(() => findings('dead_rows', { snapshotAgeMs: 0, deadRows: 100 }), { timeout: 10_000 })
      .toMatchObject([{ severity: 'warning', subject: 'tasks.busy', details: { holder: { kind: 'session' } } }])
    await holder.query('rollback')
    await expect
      .poll(() => findings('dead_rows', { snapshotAgeMs: 0, deadRows: 100 }), { timeout: 10_000 })
      .toMatchObject([{ subject: 'tasks.busy', remedy: 'vacuum (analyze) tasks.busy;' }])
  })

  it('finds a clock that was replaced', async () => {
    await database.pool.query(
      `create or replace function tasks.clock() returns timestamptz language sql volatile as 'select pg_catalog.clock_timestamp() + interval ''1 hour'''`,
    )
    await remedied('clock', await findings('clock'))
  })

  it('finds failed tasks, with the last error', async () => {
    await createTaskType(database.pool, 'spent')
    await database.pool.query(
      `insert into tasks.spent (failed_at, failure_reason, last_error) values (now() - interval '1 day', 'error', 'old'), (now(), 'error', 'No such order')`,
    )
    expect(await findings('failed_tasks')).toMatchObject([
      { severity: 'warning', subject: 'tasks.spent', details: { failed: 2, lastError: 'No such order' } },
    ])
  })

  it('finds tasks that have lost their worker, and its remedy brings them back', async () => {
    await createTaskType(database.pool, 'orphaned')
    await database.pool.query('insert into tasks.orphaned default values')
    await database.pool.query(`select tasks.acquire_tasks_orphaned(1, '00000000-0000-4000-8000-000000000001')`)
    expect(await findings('leases')).toEqual([])
    await database.pool.query(`update tasks.leases set leased_until = now() - interval '2 minutes'`)
    const found = await findings('leases')
    expect(found).toMatchObject([{ severity: 'warning', details: { tasks: 1 } }])
    await remedied('leases', [
      { ...found[0], remedy: found[0]?.remedy.replace(/^.*By hand: |^.*by hand: /, '') ?? '' } as Finding,
    ])
  })

  it('finds tasks that nobody starts', async () => {
    await createTaskType(database.pool, 'waiting')
    await database.pool.query(`insert into tasks.waiting (planned_to) values (now() - interval '1 hour')`)
    expect(await findings('overdue')).toMatchObject([{ severity: 'critical', details: { workers: 0 } }])
    await database.pool.query(
      `insert into tasks.leases (worker_id, table_id, leased_until) values (gen_random_uuid(), 'tasks.waiting'::regclass, now() + interval '1 hour')`,
    )
    expect(await findings('overdue')).toMatchObject([{ severity: 'warning', details: { workers: 1 } }])
    await database.pool.query(`select tasks.pause('tasks', 'waiting', 'bank holiday')`)
    expect(await findings('overdue')).toEqual([])
    expect(await findings('paused')).toMatchObject([{ severity: 'info', details: { reason: 'bank holiday' } }])
  })

  it('finds schedules that were set aside, and those that nobody looks at', async () => {
    await createTaskType(database.pool, 'daily')
    await database.pool.query(`select tasks.schedule('every day', 'tasks', 'daily', every => '1 day')`)
    expect(await findings('schedules')).toEqual([])
    await database.pool.query(
      `update tasks.schedules set planned = true, next_at = date_trunc('second', now() - interval '1 hour')`,
    )
    expect(await findings('schedules')).toMatchObject([
      { subject: 'every day', problem: expect.stringContaining('due') },
    ])
    await database.pool.query(`update tasks.schedules set paused_at = now(), last_error = 'no such column'`)
    expect(await findings('schedules')).toMatchObject([{ problem: expect.stringContaining('no such column') }])
  })

  it('finds tables that were not registered, and its remedy registers them', async () => {
    await database.pool.query('create schema "My shop"')
    await database.pool.query(
      'create table "My shop"."it\'s" (like tasks.template including defaults including identity including indexes)',
    )
    const found = await findings('unregistered')
    expect(found).toMatchObject([{ severity: 'warning', subject: '"My shop"."it\'s"' }])
    await remedied('unregistered', found)
  })

  it('finds types whose table is gone', async () => {
    await createTaskType(database.pool, 'gone')
    await database.pool.query('drop table tasks.gone cascade')
    await remedied('types', await findings('types'))
  })

  it('gives remedies that can be run as they are, whatever things are called', async () => {
    await database.pool.query(`
      create schema "my.shop";
      create table "my.shop"."o'dd ""one" (like tasks.template including defaults including identity including indexes);
      select tasks.register('my.shop', 'o''dd "one', function_name => 'odd');
      insert into "my.shop"."o'dd ""one" (failed_at, failure_reason) values (now(), 'error');
      select tasks.schedule('every ''day''', 'my.shop', 'o''dd "one', every => '1 day');
      update tasks.schedules set last_error = 'no such column'`)
    const [failed] = await findings('failed_tasks')
    expect(failed?.remedy).toContain(`pg-tasks list '"my.shop"."o'\\''dd ""one"' --state failed;`)
    const [late] = await findings('schedules')
    expect(late?.remedy).toMatch(/pg-tasks schedules resume 'every '\\''day'\\'''$/)
    await database.pool.query(`drop table "my.shop"."o'dd ""one" cascade`)
    await remedied('types', await findings('types'))
  })

  it('compares the tables with what the code expects', async () => {
    await createTaskType(database.pool, 'drifted', { columns: 'order_id bigint not null, note text' })
    const expected = (columns: readonly string[]) => ({ expected: [{ schema: 'tasks', table: 'drifted', columns }] })
    expect(await findings('columns', expected(['order_id', 'note']))).toEqual([])
    expect(await findings('columns', expected(['order_id', 'email', 'name']))).toMatchObject([
      { severity: 'critical', details: { missing: ['email', 'name'] } },
    ])
    expect(await findings('columns', expected(['note']))).toMatchObject([
      { severity: 'warning', details: { required: ['order_id'] } },
    ])
    expect(await findings('columns', { expected: [{ schema: 'tasks', table: 'nowhere', columns: [] }] })).toMatchObject(
      [{ severity: 'critical', subject: 'tasks.nowhere' }],
    )
  })

  it('says what a role may not see', async () => {
    await createTaskType(database.pool, 'secret')
    const role = await database.createRole('stranger')
    await database.pool.query(`grant usage on schema tasks to ${role.name}`)
    await database.pool.query(`grant select on tasks.migrations, tasks.types to ${role.name}`)
    const stranger = await database.client()
    await stranger.query(`set role ${role.name}`)
    const results = await diagnose(stranger)
    expect(results.find((result) => result.check === 'schedules')).toMatchObject({
      severity: 'info',
      findings: [{ remedy: expect.stringContaining('grant_to'), details: { user: role.name } }],
    })
  })

  it('refuses unknown options', async () => {
    await expect(diagnose(database.pool, { deadrows: 1 } as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
