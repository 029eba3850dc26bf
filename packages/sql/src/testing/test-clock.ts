import type { Queryable } from '../connection.js'

/** Task tables and the template: new rows are planned by a default that is the real clock, which a test's may be behind. */
const PLANNED_DEFAULTS = `do $do$
declare
  v_table regclass;
begin
  for v_table in
    select 'tasks.template'::regclass union all
    select t.table_id from tasks.types t join pg_catalog.pg_class c on c.oid = t.table_id
  loop
    execute pg_catalog.format('alter table %s alter column planned_to set default %s', v_table, $default$CLOCK$default$);
  end loop;
end
$do$`

/** Replaces the database's clock by one that can be moved; at first it tells the right time. */
export async function installTestClock(connection: Queryable, { frozen }: { readonly frozen: boolean }): Promise<void> {
  await connection.query(`
    create table if not exists tasks.test_clock (ahead interval not null, stands_at timestamptz);
    delete from tasks.test_clock;
    insert into tasks.test_clock values ('0', ${frozen ? 'pg_catalog.clock_timestamp()' : 'null'});
    grant select on tasks.test_clock to public;
    create or replace function tasks.clock() returns timestamptz language sql volatile
    as 'select coalesce(c.stands_at, pg_catalog.clock_timestamp()) + c.ahead from tasks.test_clock c';
    ${PLANNED_DEFAULTS.replace('CLOCK', 'tasks.clock()')}`)
}

/**
 * Moves it, and the leases with it, as if they had been renewed meanwhile; wakes all workers and schedulers. Returns the time
 * that it is now.
 */
export async function moveTestClock(connection: Queryable, byMs: number): Promise<Date> {
  const by = 'make_interval(secs => $1::double precision / 1000)'
  await connection.query(`update tasks.test_clock set ahead = ahead + ${by}`, [byMs])
  await connection.query(`update tasks.leases set leased_until = leased_until + ${by}`, [byMs])
  await connection.query(
    `select pg_catalog.pg_notify('pg_tasks', '')::text, pg_catalog.pg_notify('pg_tasks_control', 'schedules')::text`,
  )
  return readTestClock(connection)
}

export async function readTestClock(connection: Queryable): Promise<Date> {
  const { rows } = await connection.query('select (1000 * extract(epoch from tasks.clock()))::double precision as ms')
  return new Date((rows[0] as { readonly ms: number }).ms)
}

/** Gives the database its own clock again. */
export async function removeTestClock(connection: Queryable): Promise<void> {
  await connection.query(`
    create or replace function tasks.clock() returns timestamptz language sql volatile
    as 'select pg_catalog.clock_timestamp()';
    ${PLANNED_DEFAULTS.replace('CLOCK', 'pg_catalog.clock_timestamp()')};
    drop table if exists tasks.test_clock`)
}
