-- 0007_create_register: register, configure, unregister, upgrade, refresh, describe.
--
-- Flow: register checks the table, lists what differs from what it should be, and only then changes anything. A call that
-- changes nothing takes no lock on the table stronger than a reader's. All changes of one call are one transaction.
-- Lock order: the registration lock (advisory, class 1886415980 key 1), the table (only for DDL, with a lock_timeout of at
-- most a second), the registry row.

begin isolation level read committed;
select tasks.start_migration(7, 'create_register');

create function tasks.verb_sources(p_table text, p_name text) returns table (function_name text, arguments text, source text)
language sql immutable
as $$
  values
    ('rescue_' || p_name, '', tasks.source_of_rescue(p_table, p_name)),
    ('acquire_' || p_name, 'integer, uuid, boolean, jsonb', tasks.source_of_acquire(p_table, p_name)),
    ('next_due_' || p_name, 'uuid, boolean', tasks.source_of_next_due(p_table, p_name)),
    ('heartbeat_' || p_name, 'uuid, bigint[], uuid[], boolean', tasks.source_of_heartbeat(p_table, p_name)),
    ('finish_' || p_name, 'bigint, timestamp with time zone, text, uuid, jsonb', tasks.source_of_finish(p_table, p_name)),
    ('finish_many_' || p_name, 'bigint[], uuid[], jsonb', tasks.source_of_finish_many(p_table, p_name)),
    ('retry_' || p_name, 'bigint, timestamp with time zone, text, uuid, interval, text, text, jsonb', tasks.source_of_retry(p_table, p_name)),
    ('release_' || p_name, 'bigint, uuid, jsonb', tasks.source_of_release(p_table, p_name)),
    ('cancel_' || p_name, 'bigint, timestamp with time zone, text, uuid, jsonb', tasks.source_of_cancel(p_table, p_name)),
    ('reset_' || p_name, 'bigint, jsonb', tasks.source_of_reset(p_table, p_name)),
    ('clean_before_' || p_name, 'timestamp with time zone, text[], bigint, jsonb', tasks.source_of_clean_before(p_table, p_name)),
    ('clean_' || p_name, 'interval, text[], bigint, jsonb', tasks.source_of_clean(p_table, p_name))
$$;
comment on function tasks.verb_sources(text, text) is 'Names, argument types and sources of all functions of a task type';

create function tasks.default_function_name(p_table regclass) returns text
language sql stable
as $$
  select n.nspname || '_' || c.relname
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = p_table
$$;
comment on function tasks.default_function_name(regclass) is 'What stands behind the verb in the names of a type''s functions unless register is told otherwise';

create function tasks.check_function_name(p_table regclass, p_name text) returns void
language plpgsql stable
as $$
declare
  v_name  text;
  v_other text;
begin
  if p_name is null or p_name = '' then
    perform tasks.refuse('TQ003', 'register: function_name must not be empty');
  end if;
  for v_name in select s.function_name from tasks.verb_sources('t', p_name) s union all select 'stats_of_' || p_name loop
    if pg_catalog.octet_length(v_name) > 63 then
      perform tasks.refuse('TQ007', pg_catalog.format('register: the name %s would be longer than 63 bytes', v_name),
        'Give a shorter one: tasks.register(…, function_name => ''…'').');
    end if;
    select y.table_id::text into v_other
    from tasks.types y
    cross join lateral tasks.verb_sources('t', y.function_name) s
    where y.table_id <> p_table and s.function_name = v_name
    limit 1;
    if v_other is not null then
      perform tasks.refuse('TQ007', pg_catalog.format('register: the function %s belongs to the task type %s', v_name, v_other),
        'Give another name: tasks.register(…, function_name => ''…'').');
    end if;
  end loop;
end
$$;
comment on function tasks.check_function_name(regclass, text) is 'Refuses names over 63 bytes and names that another type''s functions have';

create function tasks.check_settings(p_type tasks.types) returns void
language plpgsql immutable
as $$
begin
  if p_type.timeout <= interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('timeout must be positive, not %s', p_type.timeout), 'NULL means that a task whose worker died is never taken back.');
  elsif pg_catalog.date_part('epoch', p_type.timeout) < 0.1 then
    perform tasks.refuse('TQ003', pg_catalog.format('timeout must be at least 100 ms, not %s', p_type.timeout));
  elsif p_type.max_retries < 0 then
    perform tasks.refuse('TQ003', pg_catalog.format('max_retries must not be negative, not %s', p_type.max_retries), '0: one execution; NULL: without end.');
  elsif p_type.notification_interval < interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('notification_interval must not be negative, not %s', p_type.notification_interval));
  elsif p_type.storage_time < interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('storage_time must not be negative, not %s', p_type.storage_time), '0: deleted at finish; NULL: kept for ever.');
  elsif p_type.notify is null then
    perform tasks.refuse('TQ003', 'notify must be true or false, not NULL');
  elsif p_type.backoff_base is null or p_type.backoff_base <= interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('backoff_base must be positive, not %s', coalesce(p_type.backoff_base::text, 'NULL')));
  elsif p_type.backoff_max is null or p_type.backoff_max < p_type.backoff_base then
    perform tasks.refuse('TQ003', pg_catalog.format('backoff_max must be at least backoff_base, not %s', coalesce(p_type.backoff_max::text, 'NULL')));
  elsif p_type.run_limit <= interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('run_limit must be positive, not %s', p_type.run_limit), 'NULL: no limit.');
  end if;
end
$$;
comment on function tasks.check_settings(tasks.types) is 'Refuses settings that make no sense, naming the argument';

-- A table that is gone took its row type and so its acquire along; what is left goes here. Other types are unaffected.
create function tasks.forget_dropped() returns void
language plpgsql volatile
as $$
declare
  v_type tasks.types;
begin
  for v_type in
    delete from tasks.types y where not exists (select from pg_catalog.pg_class c where c.oid = y.table_id) returning y.*
  loop
    perform tasks.drop_verbs(v_type.function_name);
    delete from tasks.leases l where l.table_id = v_type.table_id;
  end loop;
end
$$;
comment on function tasks.forget_dropped() is 'Removes what is left of task types whose table was dropped';

create function tasks.drop_verbs(p_name text) returns void
language plpgsql volatile
as $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    join tasks.verb_sources('t', p_name) s on s.function_name = p.proname
    where p.pronamespace = 'tasks'::regnamespace
  loop
    execute pg_catalog.format('drop function %s', v_function);
  end loop;
  begin
    execute pg_catalog.format('drop view if exists tasks.%I', 'stats_of_' || p_name);
  exception
    when dependent_objects_still_exist then
      raise notice 'the view tasks.% stays: other objects depend on it', pg_catalog.quote_ident('stats_of_' || p_name);
  end;
end
$$;
comment on function tasks.drop_verbs(text) is 'Drops the functions and the view of a task type, as far as they are there';

create function tasks.create_verbs(p_table regclass, p_name text) returns void
language plpgsql volatile
as $$
declare
  v_source   record;
  v_function record;
  v_hash     text;
begin
  select pg_catalog.md5(pg_catalog.string_agg(s.source, '' order by s.function_name)) into v_hash
  from tasks.verb_sources(tasks.quoted(p_table), p_name) s;
  -- Current and complete: nothing to do, and running workers see nothing.
  if exists (select from tasks.types y where y.table_id = p_table and y.source_hash = v_hash)
    and (select pg_catalog.count(*) = (select pg_catalog.count(*) from tasks.verb_sources('t', p_name))
         from pg_catalog.pg_proc p
         where p.pronamespace = 'tasks'::pg_catalog.regnamespace
           and p.proname in (select s.function_name from tasks.verb_sources('t', p_name) s))
    and pg_catalog.to_regclass(pg_catalog.format('tasks.%I', 'stats_of_' || p_name)) is not null
  then
    return;
  end if;

  for v_source in select s.function_name, s.arguments, s.source from tasks.verb_sources(tasks.quoted(p_table), p_name) s loop
    -- A function of the same name with other arguments (the original's, an older version's) would make calls ambiguous.
    for v_function in
      select p.oid::regprocedure as signature
      from pg_catalog.pg_proc p
      where p.pronamespace = 'tasks'::regnamespace and p.proname = v_source.function_name
        and pg_catalog.oidvectortypes(p.proargtypes) <> v_source.arguments
    loop
      execute pg_catalog.format('drop function %s', v_function.signature);
    end loop;
    begin
      execute v_source.source;
    exception
      when invalid_function_definition then -- another result type or argument name
        execute pg_catalog.format('drop function tasks.%I(%s)', v_source.function_name, v_source.arguments);
        execute v_source.source;
    end;
    execute pg_catalog.format('comment on function tasks.%I is %L', v_source.function_name,
      'Generated by tasks.register for ' || tasks.quoted(p_table));
  end loop;

  begin
    execute pg_catalog.format('create or replace view tasks.%I as select s.* from tasks.count_states(%L::regclass) s',
      'stats_of_' || p_name, tasks.quoted(p_table));
  exception
    when invalid_table_definition then
      -- The original's view has other columns; what a user built on it stays, under another name.
      execute pg_catalog.format('alter view tasks.%I rename to %I', 'stats_of_' || p_name, pg_catalog.left('original_stats_of_' || p_name, 63));
      execute pg_catalog.format('create view tasks.%I as select s.* from tasks.count_states(%L::regclass) s',
        'stats_of_' || p_name, tasks.quoted(p_table));
  end;
  execute pg_catalog.format('comment on view tasks.%I is %L', 'stats_of_' || p_name, 'Tasks per state of ' || tasks.quoted(p_table));
  update tasks.types y set source_hash = v_hash where y.table_id = p_table;
end
$$;
comment on function tasks.create_verbs(regclass, text) is 'Creates the functions and the view of a task type unless they are current';

-- DDL waits a second at most, so that enqueuers behind it never wait longer.
create function tasks.execute_ddl(p_table regclass, p_statements text[]) returns void
language plpgsql volatile
as $$
declare
  v_statement text;
  v_timeout   text := pg_catalog.current_setting('lock_timeout');
begin
  if coalesce(pg_catalog.cardinality(p_statements), 0) = 0 then
    return;
  end if;
  if v_timeout::interval = interval '0' or v_timeout::interval > interval '1 s' then
    perform pg_catalog.set_config('lock_timeout', '1s', true);
  end if;
  foreach v_statement in array p_statements loop
    begin
      execute v_statement;
    exception
      when lock_not_available then
        perform tasks.refuse('TQ008', pg_catalog.format('%s is in use by another transaction; nothing was changed', p_table),
          'Repeat the call when no long transaction reads or writes the table. It wanted to: ' || v_statement);
      when not_null_violation or check_violation or unique_violation then
        perform tasks.refuse('TQ005', pg_catalog.format('%s has rows that don''t fit: %s', p_table, sqlerrm), 'Mend the rows, then repeat the call. It wanted to: ' || v_statement);
    end;
  end loop;
  -- An identity that was just added must start behind the ids that are there.
  if exists (select from pg_catalog.unnest(p_statements) s where s like '%add generated by default as identity%') then
    execute pg_catalog.format('select pg_catalog.setval(pg_catalog.pg_get_serial_sequence(%L, ''id''), greatest(coalesce(max(t.id), 0), 1), max(t.id) is not null) from %s t',
      tasks.quoted(p_table), tasks.quoted(p_table));
  end if;
  perform pg_catalog.set_config('lock_timeout', v_timeout, true);
end
$$;
comment on function tasks.execute_ddl(regclass, text[]) is 'Runs statements that lock a task table, with a lock_timeout of at most a second';

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
  v_table    regclass := pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1, $2));
  v_new      tasks.types;
  v_old      tasks.types;
  v_refused  text;
  v_remedies text[];
begin
  if $1 is null or $2 is null then
    perform tasks.refuse('TQ003', 'register: schema_name and table_name must not be NULL');
  elsif v_table is null then
    perform tasks.refuse('TQ004', pg_catalog.format('register: there is no table %I.%I', $1, $2),
      'CREATE TABLE … (LIKE tasks.template INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES, your columns) first; names are taken literally, without quotes.');
  end if;
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  perform tasks.forget_dropped();
  perform tasks.check_relation(v_table);

  select y.* into v_old from tasks.types y where y.table_id = v_table;
  v_new.table_id := v_table;
  v_new.schema_name := $1;
  v_new.table_name := $2;
  v_new.timeout := $3;
  v_new.max_retries := $4;
  v_new.notification_interval := $5;
  v_new.storage_time := $6;
  v_new.notify := $7;
  v_new.function_name := coalesce($8, tasks.default_function_name(v_table));
  v_new.backoff_base := $9;
  v_new.backoff_max := $10;
  v_new.run_limit := $11;
  perform tasks.check_settings(v_new);
  perform tasks.check_function_name(v_table, v_new.function_name);

  select pg_catalog.string_agg(c.problem, '; ') filter (where c.remedy is null), pg_catalog.array_agg(c.remedy) filter (where c.remedy is not null)
  into v_refused, v_remedies
  from (select c.problem, c.remedy from tasks.check_table(v_table) c union all select g.problem, g.remedy from tasks.check_triggers(v_table, $7) g) c;
  if v_refused is not null then
    perform tasks.refuse('TQ005', pg_catalog.format('register: %s doesn''t fit the template: %s', v_table, v_refused),
      'Missing columns are added by tasks.upgrade(''' || v_table || '''); rename columns of your own that have a template column''s name.');
  end if;
  perform tasks.execute_ddl(v_table, v_remedies);

  if v_old.table_id is null then
    insert into tasks.types as y (table_id, schema_name, table_name, timeout, max_retries, notification_interval, storage_time, notify,
      function_name, backoff_base, backoff_max, run_limit)
    values (v_table, $1, $2, $3, $4, $5, $6, $7, v_new.function_name, $9, $10, $11);
  else
    if v_old.function_name <> v_new.function_name then
      perform tasks.drop_verbs(v_old.function_name);
    end if;
    update tasks.types y set
      schema_name = $1, table_name = $2, timeout = $3, max_retries = $4, notification_interval = $5, storage_time = $6, notify = $7,
      function_name = v_new.function_name, backoff_base = $9, backoff_max = $10, run_limit = $11
    where y.table_id = v_table
      and (y.schema_name, y.table_name, y.timeout, y.max_retries, y.notification_interval, y.storage_time, y.notify, y.function_name,
        y.backoff_base, y.backoff_max, y.run_limit)
      is distinct from ($1, $2, $3, $4, $5, $6, $7, v_new.function_name, $9, $10, $11);
  end if;
  -- A name that another table bore when it was registered is stale now.
  update tasks.types y set schema_name = n.nspname, table_name = c.relname
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = y.table_id and (y.schema_name, y.table_name) is distinct from (n.nspname::text, c.relname::text);
  perform tasks.create_verbs(v_table, v_new.function_name);
end
$$;
comment on function tasks.register(text, text, interval, integer, interval, interval, boolean, text, interval, interval, interval, jsonb) is
  'Makes a table a task type, or brings its settings up to date; idempotent';

create function tasks.find_type(p_schema text, p_table text) returns tasks.types
language sql stable
as $$
  select y.* from tasks.types y
  left join pg_catalog.pg_class c on c.oid = y.table_id
  left join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = p_schema and c.relname = p_table or y.schema_name = p_schema and y.table_name = p_table
  order by n.nspname = p_schema and c.relname = p_table desc nulls last
  limit 1
$$;
comment on function tasks.find_type(text, text) is 'Registry row of a table, by its name of today or, failing that, the one it was registered with';

create function tasks.configure(schema_name text, table_name text, setting text, value text) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types;
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  v_type := tasks.find_type($1, $2);
  if v_type.table_id is null then
    perform tasks.refuse('TQ004', pg_catalog.format('configure: %I.%I is not registered', $1, $2), 'Call tasks.register(schema, table).');
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
          'Settings: timeout, max_retries, notification_interval, storage_time, notify, backoff_base, backoff_max, run_limit.');
    end case;
  exception
    when invalid_text_representation or invalid_datetime_format or datetime_field_overflow or interval_field_overflow or numeric_value_out_of_range then
      perform tasks.refuse('TQ003', pg_catalog.format('configure: %s can''t be %s', $3, $4));
  end;
  perform tasks.check_settings(v_type);
  perform tasks.execute_ddl(v_type.table_id, (select pg_catalog.array_agg(g.remedy) from tasks.check_triggers(v_type.table_id, v_type.notify) g));
  update tasks.types y set
    timeout = v_type.timeout, max_retries = v_type.max_retries, notification_interval = v_type.notification_interval,
    storage_time = v_type.storage_time, notify = v_type.notify, backoff_base = v_type.backoff_base,
    backoff_max = v_type.backoff_max, run_limit = v_type.run_limit
  where y.table_id = v_type.table_id;
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
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  v_type := tasks.find_type($1, $2);
  if v_type.table_id is not null and tasks.quoted(v_type.table_id) is not null then
    perform tasks.execute_ddl(v_type.table_id, (select pg_catalog.array_agg(g.remedy) from tasks.check_triggers(v_type.table_id, false) g));
    perform tasks.drop_verbs(v_type.function_name);
    delete from tasks.leases l where l.table_id = v_type.table_id;
    delete from tasks.types y where y.table_id = v_type.table_id;
  end if;
  perform tasks.forget_dropped();
end
$$;
comment on function tasks.unregister(text, text) is 'Takes a task type out of the registry; its table and rows stay; idempotent';

create function tasks.upgrade(p_table regclass) returns void
language plpgsql volatile
as $$
declare
  v_columns text[];
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  perform tasks.check_relation(p_table);
  select pg_catalog.array_agg(pg_catalog.format('alter table %s add column %I %s%s%s', tasks.quoted(p_table), a.attname,
      pg_catalog.format_type(a.atttypid, a.atttypmod),
      coalesce(' default ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid), ''), case when a.attnotnull then ' not null' else '' end) order by a.attnum)
  into v_columns
  from pg_catalog.pg_attribute a
  left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = 'tasks.template'::regclass and a.attnum > 0 and not a.attisdropped
    and not exists (select from pg_catalog.pg_attribute o where o.attrelid = p_table and o.attname = a.attname and not o.attisdropped);
  perform tasks.execute_ddl(p_table, v_columns);
  perform tasks.execute_ddl(p_table, (select pg_catalog.array_agg(c.remedy) from tasks.check_table(p_table) c where c.remedy is not null));
end
$$;
comment on function tasks.upgrade(regclass) is 'Adds the template''s columns and indexes that a table lacks; each lock is waited for a second at most';

-- After a rename the functions still name the old table. Workers call this: it changes nothing but the functions' text.
create function tasks.refresh(p_table_id oid) returns boolean
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type tasks.types;
begin
  perform pg_advisory_xact_lock(1886415980, 1);
  select y.* into v_type from tasks.types y where y.table_id = p_table_id::regclass;
  if not found or tasks.quoted(v_type.table_id) is null then
    return false;
  end if;
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
