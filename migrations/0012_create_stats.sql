-- 0012_create_stats: counts per state.
--
-- Flow: one function counts one table; the view over all types asks the registry when it is read, so that no register
-- has to rebuild it and a table that is gone is passed by. Tables that the reader can't read are left out: for lack of a
-- right, or on a standby because they are unlogged. So is one that has lost a column: the others are counted.
-- Locks: reads only; works on a standby.

begin isolation level read committed;
select tasks.start_migration(12, 'create_stats');

create function tasks.count_states(p_table regclass) returns table (
  total bigint, scheduled bigint, ready bigint, running bigint, finished bigint, failed bigint, canceled bigint
)
language plpgsql stable
as $$
begin
  if tasks.quoted(p_table) is null then
    return;
  end if;
  return query execute pg_catalog.format($query$
    select pg_catalog.count(*),
      pg_catalog.count(*) filter (where s.state = 'scheduled'),
      pg_catalog.count(*) filter (where s.state = 'ready'),
      pg_catalog.count(*) filter (where s.state = 'running'),
      pg_catalog.count(*) filter (where s.state = 'finished'),
      pg_catalog.count(*) filter (where s.state = 'failed'),
      pg_catalog.count(*) filter (where s.state = 'canceled')
    from (
      select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, $1) as state from %s t
    ) s
  $query$, tasks.quoted(p_table)) using tasks.clock();
end
$$;
comment on function tasks.count_states(regclass) is 'Tasks of a table per state; reads the whole table';

create view tasks.stats as
  select n.nspname::text as schema_name, c.relname::text as table_name,
    s.total, s.scheduled, s.ready, s.running, s.finished, s.failed, s.canceled
  from tasks.types y
  join pg_catalog.pg_class c on c.oid = y.table_id
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  cross join lateral (
    select s.* from tasks.count_states(
      case when pg_catalog.has_table_privilege(c.oid, 'select') and pg_catalog.has_schema_privilege(n.oid, 'usage')
        and (c.relpersistence <> 'u' or not pg_catalog.pg_is_in_recovery())
        and 5 = (
          select pg_catalog.count(*) from pg_catalog.pg_attribute a
          where a.attrelid = c.oid and a.attname in ('planned_to', 'started_at', 'finished_at', 'failed_at', 'canceled') and not a.attisdropped)
        then y.table_id end) s
  ) s;
comment on view tasks.stats is 'Tasks per type and state, of the types whose table the reader can read; the six states add up to total';
comment on column tasks.stats.schema_name is 'Schema of the task table';
comment on column tasks.stats.table_name is 'Name of the task table';
comment on column tasks.stats.total is 'All tasks';
comment on column tasks.stats.scheduled is 'Waiting, and planned for later';
comment on column tasks.stats.ready is 'Waiting, and due';
comment on column tasks.stats.running is 'Acquired, and without an outcome yet';
comment on column tasks.stats.finished is 'Done';
comment on column tasks.stats.failed is 'Given up: the executions are used up';
comment on column tasks.stats.canceled is 'Canceled';

commit;
