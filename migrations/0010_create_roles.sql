-- 0010_create_roles: grants for roles with one purpose each.
--
-- Flow: tasks.grant_to gives a role what its kind needs for one task table. The grants are their own record: register
-- carries them over to functions that it makes anew, and so can a later migration with what it adds.
-- Every function but refresh runs with the caller's own rights, so PUBLIC's EXECUTE on them allows nothing; and without USAGE
-- on the schema, which PUBLIC doesn't have, nothing can be called. refresh is taken from PUBLIC.
-- Locks: none on task tables.

begin isolation level read committed;
select tasks.start_migration(10, 'create_roles');

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
  v_schema := (select c.relnamespace::pg_catalog.regnamespace::text from pg_catalog.pg_class c where c.oid = v_type.table_id);

  v_grants := array[
    'usage on schema tasks', 'usage on schema ' || v_schema,
    'execute on function tasks.clock()'];
  if $2 = 'producer' then
    -- The id alone may be read, for INSERT … RETURNING id.
    v_grants := v_grants || array['insert, select (id) on ' || v_table];
  else
    v_grants := v_grants || array[
      'select on ' || v_table, 'select on tasks.types', 'select on tasks.leases', 'select on tasks.migrations', 'select on tasks.stats',
      'execute on function tasks.quoted(regclass), tasks.count_states(regclass), tasks.find_type(text, text), tasks.describe(text, text)',
      'execute on function tasks.state(timestamptz, timestamptz, timestamptz, timestamptz, boolean, timestamptz)'];
  end if;
  if $2 in ('worker', 'operator') then
    v_grants := v_grants || array[
      'insert, update, delete on ' || v_table,
      'execute on function tasks.is_running(timestamptz, timestamptz, timestamptz, boolean), tasks.elapsed(interval), tasks.backoff(interval, interval, integer)',
      'execute on function tasks.refuse(text, text, text), tasks.refuse_type(text, text), tasks.refuse_outcome(text, text, bigint, uuid)',
      'execute on function tasks.check_interval(text, interval, text), tasks.limit_idle_transaction(interval), tasks.notify_run(regclass, bigint, text)',
      'execute on function tasks.apply_reset_options(regclass, bigint, jsonb), tasks.failed_tasks(regclass, integer, timestamptz, bigint)',
      'execute on function tasks.reset_failed(regclass, text, bigint, boolean)', 'select, delete on tasks.marks'];
  end if;
  if $2 = 'worker' then
    v_grants := v_grants || array[
      'insert, update, delete on tasks.leases', 'select, insert, update, delete on tasks.schedules, tasks.occurrences', 'select, insert, update, delete on tasks.marks',
      'select on tasks.installation', 'execute on function tasks.idempotency_key(oid, bigint, timestamptz, text)',
      'execute on function tasks.begin_step(oid, bigint, uuid, text, boolean), tasks.mark_step(oid, bigint, uuid, text, jsonb, boolean)',
      'execute on function tasks.check_run(text, oid, bigint, uuid, text, text), tasks.maintain(bigint)',
      'execute on function tasks.fall_asleep(oid), tasks.wake_up(oid), tasks.nothing_in_flight(oid), tasks.stay_awake(oid), tasks.stop_awake(oid), tasks.refresh(oid)'];
  end if;
  -- An identity needs no grant; the sequence of a column made with serial does.
  v_sequence := (
    select pg_catalog.pg_get_serial_sequence(v_table, 'id') from pg_catalog.pg_attribute a
    where a.attrelid = v_type.table_id and a.attname = 'id' and a.attidentity = '');
  if v_sequence is not null and $2 <> 'reader' then
    v_grants := v_grants || array['usage on sequence ' || v_sequence];
  end if;

  foreach v_grant in array v_grants loop
    execute pg_catalog.format('grant %s to %s', v_grant, v_role);
  end loop;
  perform tasks.grant_verbs(v_type.function_name,
    case when $2 = 'worker' then array[v_role] else '{}' end,
    case when $2 = 'operator' then array[v_role] else '{}' end,
    case when $2 = 'producer' then '{}' else array[v_role] end);
  perform tasks.grant_on_failure(v_type.table_id);
end
$$;
comment on function tasks.grant_to(text, text, text, text) is
  'Grants a role what a producer, worker, operator or reader of one task table needs; idempotent';

commit;
