-- 0014_create_roles: grants for roles with one purpose each.
--
-- Flow: tasks.grant_to gives a role what its kind needs for one task table. The grants are their own record: register
-- carries them over to functions that it makes anew. Call it again after a migration that
-- brings tables, and after tasks.unique_while.
-- Every function but a few runs with the caller's own rights, so EXECUTE on those allows nothing, to PUBLIC neither; and
-- without USAGE on the schema, which PUBLIC doesn't have, nothing can be called. What runs with its owner's rights is taken
-- from PUBLIC. EXECUTE is granted all the same, for databases where PUBLIC has lost it.
-- Locks: the registration lock (0011); none on task tables.

begin isolation level read committed;
select tasks.start_migration(14, 'create_roles');

revoke execute on function tasks.refresh(oid) from public;

create function tasks.grant_to(role_name text, role_kind text, schema_name text, table_name text) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type     tasks.types;
  v_table    text;
  v_schema   text;
  v_role     text := pg_catalog.quote_ident($1);
  v_sequence text;
  v_grants   text[];
  v_grant    text;
begin
  if $1 is null or not exists (select from pg_catalog.pg_roles r where r.rolname = $1) then
    perform tasks.refuse('TQ003', pg_catalog.format('grant_to: there is no role %s', coalesce(v_role, 'NULL')),
      'CREATE ROLE first; the name is taken literally, without quotes.');
  elsif $2 is null or $2 not in ('producer', 'worker', 'operator', 'reader') then
    perform tasks.refuse('TQ003', pg_catalog.format('grant_to: role_kind must be producer, worker, operator or reader, not %s', coalesce($2, 'NULL')));
  end if;
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  v_type := tasks.find_type($3, $4);
  v_table := tasks.quoted(v_type.table_id);
  if v_table is null then
    perform tasks.refuse('TQ004', pg_catalog.format('grant_to: %s.%s is not registered', coalesce(pg_catalog.quote_ident($3), 'NULL'), coalesce(pg_catalog.quote_ident($4), 'NULL')),
      'Call tasks.register(schema, table).');
  end if;
  v_schema := (select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = v_type.table_id);

  -- A producer reads no more than the id, for INSERT ... RETURNING id; where tasks are unique, also by what they are (0023), and
  -- then it may change what it may give: replace, postpone and advance are updates. What a run writes is none of it.
  v_grants := array['usage on schema tasks', 'usage on schema ' || v_schema, case $2
    when 'producer' then 'insert, select (id) on ' || v_table
    when 'reader' then 'select on ' || v_table
    else 'select, insert, update, delete on ' || v_table end];
  if $2 = 'producer' then
    v_grants := v_grants || array(
      select pg_catalog.format('select (%s, planned_to, started_at, finished_at, failed_at, canceled, xmax) on %s',
        (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ') from pg_catalog.unnest(u.columns) c), v_table)
      from tasks.unique_rule(v_type.table_id) u where u.columns is not null)
      || array(
      select pg_catalog.format('update (%s) on %s',
        (select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ') from pg_catalog.pg_attribute a
          where a.attrelid = v_type.table_id and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
            and (a.attname in ('planned_to', 'priority', 'trace_id', 'traceparent', 'comment', 'group_key') or not exists (
              select from pg_catalog.pg_attribute o where o.attrelid = 'tasks.template'::pg_catalog.regclass and o.attname = a.attname and o.attnum > 0))), v_table)
      from tasks.unique_rule(v_type.table_id) u where u.columns is not null);
  end if;
  -- An identity needs no grant; the sequence of a column made with serial does.
  v_sequence := (
    select pg_catalog.pg_get_serial_sequence(v_table, 'id') from pg_catalog.pg_attribute a
    where a.attrelid = v_type.table_id and a.attname = 'id' and a.attidentity = '');
  if v_sequence is not null and $2 <> 'reader' then
    v_grants := v_grants || ('usage on sequence ' || v_sequence);
  end if;
  -- Our own tables: workers keep leases, schedules and what goes with a run; whoever ends a task writes what hangs on it.
  v_grants := v_grants || array(
    select pg_catalog.format('%s on tasks.%I', case
        when $2 = 'worker' and c.relname in ('leases', 'schedules', 'occurrences', 'marks', 'rates', 'freed_keys', 'groups', 'group_ends', 'attempts', 'batches') then 'select, insert, update, delete'
        when $2 = 'operator' and c.relname in ('schedules', 'occurrences', 'marks', 'freed_keys', 'groups', 'group_ends', 'attempts') then 'select, insert, update, delete'
        when $2 = 'operator' and c.relname = 'audit' then 'select, insert'
        else 'select' end, c.relname)
    from pg_catalog.pg_class c
    where c.relnamespace = 'tasks'::pg_catalog.regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
      and c.relname in ('types', 'leases', 'migrations', 'stats', 'schedules', 'occurrences', 'schedule_stats', 'marks', 'installation', 'rates', 'freed_keys',
        'unique_rules', 'groups', 'group_ends', 'group_types', 'attempts', 'batches', 'audit')
      and (c.relname <> 'audit' or $2 in ('operator', 'reader'))
      and ($2 <> 'producer' or c.relname = 'unique_rules'));
  -- What hangs on an update of a limited type's table (0021, 0022) reads its limits, and writes down which key's order changed.
  if $2 = 'producer' and (tasks.unique_rule(v_type.table_id)).columns is not null then
    v_grants := v_grants || array['select (table_id, notify, concurrency, key_columns) on tasks.types', 'insert on tasks.freed_keys'];
  end if;
  -- Its trigger sees to it that the callback is one that the producer may enqueue.
  if $2 = 'producer' then
    v_grants := v_grants || 'insert (key, callback_table, callback_columns, policy) on tasks.groups'::text;
  end if;
  -- Readers and producers get what only looks, producers what enqueues as well, operators all that runs with their own rights.
  v_grants := v_grants || array(
    select 'execute on function ' || p.oid::pg_catalog.regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'tasks'::pg_catalog.regnamespace and p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
      and not exists (select from tasks.types y cross join tasks.verbs() v where p.proname = v.verb || '_' || y.function_name)
      and case
        when $2 = 'worker' then true
        when p.prosecdef then $2 in ('operator', 'producer') and p.proname in ('take_empty_group', 'close_group', 'registered_table')
        when $2 = 'operator' then true
        else p.provolatile <> 'v' or p.proname in ('clock', 'count_states', 'refuse') or $2 = 'producer' and p.proname in ('enqueue', 'check_interval', 'create_group', 'check_schedule_columns', 'end_group', 'check_deferred', 'announce') end);

  foreach v_grant in array v_grants loop
    execute pg_catalog.format('grant %s to %s', v_grant, v_role);
  end loop;
  perform tasks.grant_verbs(v_type.function_name,
    case when $2 = 'worker' then array[v_role] else '{}' end,
    case when $2 = 'operator' then array[v_role] else '{}' end,
    case when $2 = 'producer' then '{}' else array[v_role] end);
  perform tasks.grant_on_failure(v_type.table_id); -- 0019
end
$$;
comment on function tasks.grant_to(text, text, text, text) is
  'Grants a role what a producer, worker, operator or reader of one task table needs; idempotent';

commit;
