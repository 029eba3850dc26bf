-- 0011_create_register: register, configure, unregister, upgrade, refresh, describe.
--
-- Flow: register checks the table, lists what differs from what it should be, and only then changes anything. A call that
-- would change nothing takes no lock stronger than a reader's and needs no more than SELECT on the registry.
-- All changes of one call are one transaction.
-- Lock order: the registration lock (advisory, class 1886415980 key 1), the table (only for DDL, with a lock_timeout of at
-- most a second), the registry row.

begin isolation level read committed;
select tasks.start_migration(11, 'create_register');

create function tasks.register(
  schema_name text,
  table_name text,
  timeout interval default '1 minute',
  max_retries integer default 20,
  notification_interval interval default '1 s',
  storage_time interval default null,
  notify boolean default true,
  function_name text default null,
  backoff_base interval default '1 s',
  backoff_max interval default '1 hour',
  run_limit interval default null,
  options jsonb default null
) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_table regclass;
  v_new   tasks.types;
  v_old   tasks.types;
  v_amiss record;
begin
  if $1 is null or $2 is null then
    perform tasks.refuse('TQ003', 'register: schema_name and table_name must not be NULL');
  end if;
  v_table := pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1, $2));
  if v_table is null then
    perform tasks.refuse('TQ004', pg_catalog.format('register: there is no table %I.%I', $1, $2),
      'CREATE TABLE ... (LIKE tasks.template INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES, your columns) first; names are taken literally, without quotes.');
  end if;
  perform tasks.check_relation(v_table);
  -- A table of something else, named by mistake: a list of all columns would tell less.
  if not exists (select from pg_catalog.pg_attribute a
      where a.attrelid = v_table and not a.attisdropped and a.attname in ('planned_to', 'started_at', 'finished_at', 'execution_count', 'canceled')) then
    perform tasks.refuse('TQ005', pg_catalog.format('register: %s is no task table: it has none of the columns planned_to, started_at, finished_at, execution_count, canceled', tasks.quoted(v_table)),
      pg_catalog.format('A task type is a table of its own: CREATE TABLE ... (LIKE tasks.template INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES, your columns). If the rows of this one are to become tasks: tasks.upgrade(%L) adds the columns.', tasks.quoted(v_table)));
  end if;

  for v_try in 1..2 loop
    select y.* into v_old from tasks.types y where y.table_id = v_table;
    -- What register isn't told stays as it is: identity, dates, and what later migrations add.
    v_new := v_old;
    select n.nspname, c.relname into v_new.schema_name, v_new.table_name
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = v_table;
    v_new.table_id := v_table;
    v_new.timeout := $3;
    v_new.max_retries := $4;
    v_new.notification_interval := $5;
    v_new.storage_time := $6;
    v_new.notify := $7;
    v_new.function_name := coalesce($8, tasks.default_function_name(v_table));
    v_new.backoff_base := $9;
    v_new.backoff_max := $10;
    v_new.run_limit := $11;
    perform tasks.check_settings('register', v_new);
    select c.refused, c.remedies into v_amiss from tasks.check_table_of_type(v_table, $7) c;
    if v_amiss.refused is not null then
      perform tasks.refuse('TQ005', pg_catalog.format('register: %s doesn''t fit the template: %s', tasks.quoted(v_table), v_amiss.refused),
        pg_catalog.format('Missing columns are added by tasks.upgrade(%L); rename columns of your own that have a template column''s name.', tasks.quoted(v_table)));
    end if;
    if v_amiss.remedies is null and v_new is not distinct from v_old and tasks.verbs_are_current(v_table, v_new.function_name) then
      return;
    end if;
    exit when v_try = 2;
    -- Something is to be done: one at a time, so look again.
    perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
    perform tasks.follow_renames();
    perform tasks.check_function_name(v_table, v_new.function_name);
  end loop;

  perform tasks.execute_ddl(v_table, v_amiss.remedies);
  insert into tasks.types as y (table_id, schema_name, table_name, timeout, max_retries, notification_interval, storage_time, notify,
    function_name, backoff_base, backoff_max, run_limit)
  values (v_table, v_new.schema_name, v_new.table_name, $3, $4, $5, $6, $7, v_new.function_name, $9, $10, $11)
  on conflict on constraint types_pkey do update set
    timeout = excluded.timeout, max_retries = excluded.max_retries, notification_interval = excluded.notification_interval,
    storage_time = excluded.storage_time, notify = excluded.notify, function_name = excluded.function_name,
    backoff_base = excluded.backoff_base, backoff_max = excluded.backoff_max, run_limit = excluded.run_limit;
  perform tasks.create_verbs(v_table, v_new.function_name, v_old.function_name);
  if v_old.table_id is not null and v_old.timeout is null and $3 is not null then
    perform tasks.end_open_leases(v_table, $3);
  end if;
end
$$;
comment on function tasks.register(text, text, interval, integer, interval, interval, boolean, text, interval, interval, interval, jsonb) is
  'Makes a table a task type, or brings its settings up to date; idempotent';

-- The name of today counts. The one at register only where no table bears it now: of a table that was renamed or dropped.
create function tasks.find_type(p_schema text, p_table text) returns tasks.types
language sql stable
as $$
  select y.* from tasks.types y
  left join pg_catalog.pg_class c on c.oid = y.table_id
  left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = p_schema and c.relname = p_table
    or y.schema_name = p_schema and y.table_name = p_table
      and not exists (
        select from pg_catalog.pg_class o join pg_catalog.pg_namespace m on m.oid = o.relnamespace
        where m.nspname = p_schema and o.relname = p_table)
  limit 1
$$;
comment on function tasks.find_type(text, text) is 'Registry row of a table, by its name of today or, failing that, the one it was registered with';

create function tasks.configure(schema_name text, table_name text, setting text, value text) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types;
  v_open boolean;
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  v_type := tasks.find_type($1, $2);
  v_open := v_type.timeout is null;
  if v_type.table_id is null or tasks.quoted(v_type.table_id) is null then
    perform tasks.refuse('TQ004', pg_catalog.format('configure: %s.%s is not registered', coalesce(pg_catalog.quote_ident($1), 'NULL'), coalesce(pg_catalog.quote_ident($2), 'NULL')),
      'Call tasks.register(schema, table).');
  end if;
  begin
    case $3
      when 'timeout' then v_type.timeout := $4;
      when 'max_retries' then v_type.max_retries := $4;
      when 'notification_interval' then v_type.notification_interval := $4;
      when 'storage_time' then v_type.storage_time := $4;
      when 'notify' then v_type.notify := $4;
      when 'backoff_base' then v_type.backoff_base := $4;
      when 'backoff_max' then v_type.backoff_max := $4;
      when 'run_limit' then v_type.run_limit := $4;
      else
        perform tasks.refuse('TQ003', pg_catalog.format('configure: there is no setting %s', coalesce($3, 'NULL')),
          'Settings: timeout, max_retries, notification_interval, storage_time, notify, backoff_base, backoff_max, run_limit. The function name is given to tasks.register.');
    end case;
  exception
    when data_exception then
      perform tasks.refuse('TQ003', pg_catalog.format('configure: %s can''t be %L: %s', $3, $4, sqlerrm));
  end;
  perform tasks.check_settings('configure', v_type);
  perform tasks.execute_ddl(v_type.table_id, (select pg_catalog.array_agg(g.remedy) from tasks.check_triggers(v_type.table_id, v_type.notify, true) g));
  update tasks.types y set
    timeout = v_type.timeout, max_retries = v_type.max_retries, notification_interval = v_type.notification_interval,
    storage_time = v_type.storage_time, notify = v_type.notify, backoff_base = v_type.backoff_base,
    backoff_max = v_type.backoff_max, run_limit = v_type.run_limit
  where y.table_id = v_type.table_id;
  if v_open and v_type.timeout is not null then
    perform tasks.end_open_leases(v_type.table_id, v_type.timeout);
  end if;
end
$$;
comment on function tasks.configure(text, text, text, text) is 'Changes one setting of a task type; the others stay';

create function tasks.unregister(schema_name text, table_name text) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types;
begin
  if $1 is null or $2 is null then
    perform tasks.refuse('TQ003', 'unregister: schema_name and table_name must not be NULL');
  end if;
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  perform tasks.forget_dropped();
  v_type := tasks.find_type($1, $2);
  if v_type.table_id is not null then
    perform tasks.execute_ddl(v_type.table_id, array(
      select pg_catalog.format('drop trigger %I on %s', t.tgname, tasks.quoted(v_type.table_id)) from pg_catalog.pg_trigger t
      where t.tgrelid = v_type.table_id and (pg_catalog.starts_with(t.tgname, 'pg_tasks_') or t.tgname = 'notify_on_new')));
    perform tasks.drop_verbs(v_type.function_name);
    delete from tasks.leases l where l.table_id = v_type.table_id;
    delete from tasks.types y where y.table_id = v_type.table_id;
  end if;
end
$$;
comment on function tasks.unregister(text, text) is 'Takes a task type out of the registry; its table and rows stay; idempotent';

create function tasks.upgrade(p_table regclass) returns void
language plpgsql volatile
as $$
declare
  v_refused  text;
  v_remedies text[];
begin
  if p_table is null then
    perform tasks.refuse('TQ003', 'upgrade: the table must not be NULL');
  end if;
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  perform tasks.check_relation(p_table);
  select pg_catalog.string_agg(c.problem, '; ') filter (where c.remedy is null), pg_catalog.array_agg(c.remedy) filter (where c.remedy is not null)
  into v_refused, v_remedies
  from tasks.check_table(p_table) c;
  if v_refused is not null then
    perform tasks.refuse('TQ005', pg_catalog.format('upgrade: %s doesn''t fit the template: %s', tasks.quoted(p_table), v_refused),
      'Rename columns of your own that have a template column''s name.');
  end if;
  perform tasks.execute_ddl(p_table, v_remedies);
end
$$;
comment on function tasks.upgrade(regclass) is 'Adds the template''s columns and indexes that a table lacks; the table is locked meanwhile, and waited for a second at most';

-- After a rename the functions still name the old table. Workers call this: it changes nothing but the functions' text.
create function tasks.refresh(p_table_id oid) returns boolean
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type tasks.types;
begin
  for v_try in 1..2 loop
    select y.* into v_type from tasks.types y where y.table_id = p_table_id::regclass;
    if not found or tasks.quoted(v_type.table_id) is null then
      return false;
    end if;
    if tasks.verbs_are_current(v_type.table_id, v_type.function_name) then
      return true;
    end if;
    exit when v_try = 2;
    perform pg_advisory_xact_lock(1886415980, 1);
  end loop;
  perform tasks.follow_renames();
  perform tasks.create_verbs(v_type.table_id, v_type.function_name);
  return true;
end
$$;
comment on function tasks.refresh(oid) is 'Makes a type''s functions follow a rename of its table; false when the type or the table is gone';

create function tasks.refresh_all() returns void
language plpgsql volatile
as $$
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  perform tasks.follow_renames();
  perform tasks.create_verbs(y.table_id, y.function_name) from tasks.types y where tasks.quoted(y.table_id) is not null;
end
$$;
comment on function tasks.refresh_all() is 'Brings all generated functions up to date; a migration that changes a source ends with it';

create function tasks.describe(p_schema text, p_table text) returns table (
  table_id bigint, schema_name text, table_name text, function_name text, timeout_ms double precision, max_retries integer,
  storage_ms double precision, notify boolean, run_limit_ms double precision
)
language sql stable
as $$
  select y.table_id::oid::bigint, coalesce(n.nspname, y.schema_name), coalesce(c.relname, y.table_name), y.function_name,
    1000 * pg_catalog.date_part('epoch', y.timeout), y.max_retries, 1000 * pg_catalog.date_part('epoch', y.storage_time), y.notify,
    1000 * pg_catalog.date_part('epoch', y.run_limit)
  from tasks.find_type(p_schema, p_table) y
  left join pg_catalog.pg_class c on c.oid = y.table_id
  left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where y.table_id is not null
$$;
comment on function tasks.describe(text, text) is 'Settings of a task type as a client needs them; no row when it isn''t registered';

commit;
