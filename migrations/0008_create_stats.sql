-- 0008_create_stats: counts per state.
--
-- Flow: one function counts one table; the view over all types asks the registry when it is read, so that no register
-- has to rebuild it and a table that is gone is passed by. Reads only: works on a standby.

begin isolation level read committed;
select tasks.start_migration(8, 'create_stats');

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
  select coalesce(n.nspname, y.schema_name)::text as schema_name, coalesce(c.relname, y.table_name)::text as table_name,
    s.total, s.scheduled, s.ready, s.running, s.finished, s.failed, s.canceled
  from tasks.types y
  join pg_catalog.pg_class c on c.oid = y.table_id
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  cross join lateral tasks.count_states(y.table_id) s;
comment on view tasks.stats is 'Tasks per type and state; the six states add up to total';

commit;
