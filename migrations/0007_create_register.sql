-- 0007_create_register: register, configure, unregister, upgrade, refresh, describe.
--
-- Flow: register checks the table, lists what differs from what it should be, and only then changes anything. A call that
-- would change nothing takes no lock stronger than a reader's and needs no more than SELECT on the registry.
-- All changes of one call are one transaction.
-- Lock order: the registration lock (advisory, class 1886415980 key 1), the table (only for DDL, with a lock_timeout of at
-- most a second), the registry row.

begin isolation level read committed;
select tasks.start_migration(7, 'create_register');

-- A new verb is a line here and a function tasks.source_of_<verb>.
create function tasks.verbs() returns table (verb text, arguments text, for_operators boolean)
language sql immutable
as $$
  values
    ('rescue', '', false),
    ('acquire', 'integer, pg_catalog.uuid, boolean, pg_catalog.jsonb', false),
    ('next_due', 'pg_catalog.uuid, boolean', false),
    ('heartbeat', 'pg_catalog.uuid, bigint[], pg_catalog.uuid[], boolean', false),
    ('finish', 'bigint, pg_catalog.timestamptz, pg_catalog.text, pg_catalog.uuid, pg_catalog.jsonb', true),
    ('finish_many', 'bigint[], pg_catalog.uuid[], pg_catalog.jsonb', false),
    ('retry', 'bigint, pg_catalog.timestamptz, pg_catalog.text, pg_catalog.uuid, interval, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb', true),
    ('release', 'bigint, pg_catalog.uuid, pg_catalog.jsonb', false),
    ('cancel', 'bigint, pg_catalog.timestamptz, pg_catalog.text, pg_catalog.uuid, pg_catalog.jsonb', true),
    ('reset', 'bigint, pg_catalog.jsonb', true),
    ('clean_before', 'pg_catalog.timestamptz, pg_catalog.text[], bigint, pg_catalog.jsonb', true),
    ('clean', 'interval, pg_catalog.text[], bigint, pg_catalog.jsonb', true)
$$;
comment on function tasks.verbs() is 'The verbs of every task type, the argument types of their functions, and whether operators call them (workers call all)';

create function tasks.source_of(p_verb text, p_table text, p_name text) returns text
language plpgsql immutable
as $$
declare
  v_source pg_catalog.text;
begin
  execute pg_catalog.format('select tasks.%I($1, $2)', 'source_of_' || p_verb) into v_source using p_table, p_name;
  return v_source;
end
$$;
comment on function tasks.source_of(text, text, text) is 'CREATE FUNCTION statement of one verb of a task type';

create function tasks.source_hash(p_table text, p_name text) returns text
language sql immutable
as $$
  select pg_catalog.md5(pg_catalog.string_agg(tasks.source_of(v.verb, p_table, p_name), '' order by v.verb)) from tasks.verbs() v
$$;
comment on function tasks.source_hash(text, text) is 'Digest of the sources of all verbs of a task type';

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
  if p_name = '' then
    perform tasks.refuse('TQ003', 'register: function_name must not be empty', 'NULL: schema and table.');
  end if;
  for v_name in select v.verb || '_' || p_name from tasks.verbs() v union all select 'stats_of_' || p_name loop
    if pg_catalog.octet_length(v_name) > 63 then
      perform tasks.refuse('TQ007', pg_catalog.format('register: the name %s would be longer than 63 bytes', v_name),
        'Give a shorter one: tasks.register(…, function_name => ''…'').');
    end if;
    v_other := (
      select tasks.quoted(y.table_id)
      from tasks.types y cross join tasks.verbs() v
      where y.table_id <> p_table and v.verb || '_' || y.function_name = v_name
      limit 1);
    if v_other is not null then
      perform tasks.refuse('TQ007', pg_catalog.format('register: the function %s belongs to the task type %s', v_name, v_other),
        'Give another name: tasks.register(…, function_name => ''…'').');
    end if;
  end loop;
  if exists (
    select from pg_catalog.pg_class c
    where c.relnamespace = 'tasks'::pg_catalog.regnamespace and c.relname = 'stats_of_' || p_name and c.relkind <> 'v'
  ) then
    perform tasks.refuse('TQ007', pg_catalog.format('register: the name %s of the type''s view is taken', 'stats_of_' || p_name),
      'Give another name: tasks.register(…, function_name => ''…'').');
  end if;
end
$$;
comment on function tasks.check_function_name(regclass, text) is 'Refuses names over 63 bytes and names that another type''s functions have';

create function tasks.check_settings(p_verb text, p_type tasks.types) returns void
language plpgsql immutable
as $$
begin
  perform tasks.check_interval(p_verb || ': timeout', p_type.timeout, 'NULL means that a task whose worker died is never taken back.');
  perform tasks.check_interval(p_verb || ': notification_interval', p_type.notification_interval);
  perform tasks.check_interval(p_verb || ': storage_time', p_type.storage_time, '0: deleted at finish; NULL: kept for ever.');
  perform tasks.check_interval(p_verb || ': backoff_base', p_type.backoff_base);
  perform tasks.check_interval(p_verb || ': backoff_max', p_type.backoff_max);
  perform tasks.check_interval(p_verb || ': run_limit', p_type.run_limit, 'NULL: no limit.');
  if p_type.timeout < interval '100 ms' then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: timeout must be at least 100 ms, not %s', p_verb, p_type.timeout),
      'NULL means that a task whose worker died is never taken back.');
  elsif p_type.max_retries < 0 then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: max_retries must not be negative, not %s', p_verb, p_type.max_retries),
      '0: one execution; NULL: without end.');
  elsif p_type.notify is null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: notify must be true or false, not NULL', p_verb));
  elsif p_type.backoff_base is null or p_type.backoff_base < interval '1 ms' then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: backoff_base must be at least 1 ms, not %s', p_verb, coalesce(p_type.backoff_base::text, 'NULL')));
  elsif p_type.backoff_max is null or p_type.backoff_max < p_type.backoff_base then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: backoff_max must be at least backoff_base, not %s', p_verb, coalesce(p_type.backoff_max::text, 'NULL')),
      pg_catalog.format('backoff_base is %s.', p_type.backoff_base));
  elsif p_type.run_limit = interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: run_limit must be positive, not %s', p_verb, p_type.run_limit), 'NULL: no limit.');
  end if;
end
$$;
comment on function tasks.check_settings(text, tasks.types) is 'Refuses settings that make no sense, naming the argument';

create function tasks.drop_verbs(p_name text) returns void
language plpgsql volatile
as $$
declare
  v_object record;
begin
  for v_object in
    select 'function' as kind, p.oid::pg_catalog.regprocedure::text as name
    from pg_catalog.pg_proc p
    join tasks.verbs() v on p.proname = v.verb || '_' || p_name
    where p.pronamespace = 'tasks'::pg_catalog.regnamespace
    union all
    select 'view', c.oid::pg_catalog.regclass::text
    from pg_catalog.pg_class c
    where c.relnamespace = 'tasks'::pg_catalog.regnamespace and c.relname = 'stats_of_' || p_name and c.relkind = 'v'
  loop
    begin
      execute pg_catalog.format('drop %s %s', v_object.kind, v_object.name);
    exception
      when dependent_objects_still_exist then
        raise notice 'the % % stays: other objects depend on it', v_object.kind, v_object.name;
    end;
  end loop;
end
$$;
comment on function tasks.drop_verbs(text) is 'Drops the functions and the view of a task type, as far as they are there and nothing depends on them';

-- A table that is gone took its row type and so its acquire along; what is left goes here. Other types are unaffected.
create function tasks.forget_dropped() returns void
language plpgsql volatile
as $$
declare
  v_type tasks.types;
begin
  for v_type in
    delete from tasks.types y
    where not exists (select from pg_catalog.pg_class c where c.oid = y.table_id and c.relkind = 'r')
    returning y.*
  loop
    perform tasks.drop_verbs(v_type.function_name);
    delete from tasks.leases l where l.table_id = v_type.table_id;
  end loop;
end
$$;
comment on function tasks.forget_dropped() is 'Removes what is left of task types whose table was dropped';

create function tasks.follow_renames() returns void
language sql volatile
as $$
  update tasks.types y set schema_name = n.nspname, table_name = c.relname
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = y.table_id and (y.schema_name, y.table_name) is distinct from (n.nspname::pg_catalog.text, c.relname::pg_catalog.text)
$$;
comment on function tasks.follow_renames() is 'Writes the names that the tables bear today into the registry';

create function tasks.verbs_are_current(p_table regclass, p_name text) returns boolean
language sql stable
as $$
  select exists (
      select from tasks.types y
      where y.table_id = p_table and y.function_name = p_name and y.source_hash = tasks.source_hash(tasks.quoted(p_table), p_name))
    and not exists (
      select from tasks.verbs() v
      where pg_catalog.to_regprocedure(pg_catalog.format('tasks.%I(%s)', v.verb || '_' || p_name, v.arguments)) is null
        or (select pg_catalog.count(*) from pg_catalog.pg_proc p
            where p.pronamespace = 'tasks'::pg_catalog.regnamespace and p.proname = v.verb || '_' || p_name) > 1)
    and pg_catalog.to_regclass(pg_catalog.format('tasks.%I', 'stats_of_' || p_name)) is not null
$$;
comment on function tasks.verbs_are_current(regclass, text) is 'Whether the functions and the view of a task type are there, as the sources say and without namesakes';

create function tasks.create_stats_view(p_table regclass, p_name text) returns void
language plpgsql volatile
as $$
declare
  v_view   text := 'stats_of_' || p_name;
  v_column record;
begin
  begin
    execute pg_catalog.format('create or replace view tasks.%I as select s.* from tasks.count_states(%L::pg_catalog.regclass) s',
      v_view, tasks.quoted(p_table));
  exception
    when invalid_table_definition then
      -- The original's view has other columns; what a user built on it stays, under another name.
      execute pg_catalog.format('alter view tasks.%I rename to %I', v_view, pg_catalog.left('original_' || v_view, 63));
      execute pg_catalog.format('create view tasks.%I as select s.* from tasks.count_states(%L::pg_catalog.regclass) s',
        v_view, tasks.quoted(p_table));
  end;
  execute pg_catalog.format('comment on view tasks.%I is %L', v_view, 'Tasks per state of ' || tasks.quoted(p_table));
  for v_column in
    select a.attname, pg_catalog.col_description(a.attrelid, a.attnum) as description
    from pg_catalog.pg_attribute a
    where a.attrelid = 'tasks.stats'::pg_catalog.regclass and a.attnum > 0
      and exists (
        select from pg_catalog.pg_attribute o
        where o.attrelid = pg_catalog.to_regclass(pg_catalog.format('tasks.%I', v_view)) and o.attname = a.attname)
  loop
    execute pg_catalog.format('comment on column tasks.%I.%I is %L', v_view, v_column.attname, v_column.description);
  end loop;
end
$$;
comment on function tasks.create_stats_view(regclass, text) is 'Creates the view stats_of_… of a task type';

-- Grants are their own record: whoever may call acquire is a worker, whoever may call cancel an operator.
create function tasks.grantees(p_name text, p_kind text) returns text[]
language sql stable
as $$
  select coalesce(pg_catalog.array_agg(distinct pg_catalog.quote_ident(r.rolname)), '{}')
  from (
    select x.grantee
    from pg_catalog.pg_proc p cross join lateral pg_catalog.aclexplode(p.proacl) x
    where p.pronamespace = 'tasks'::pg_catalog.regnamespace and x.grantee <> p.proowner
      and (p_kind = 'worker' and p.proname = 'acquire_' || p_name or p_kind = 'operator' and p.proname = 'cancel_' || p_name)
    union all
    select x.grantee
    from pg_catalog.pg_class c cross join lateral pg_catalog.aclexplode(c.relacl) x
    where c.relnamespace = 'tasks'::pg_catalog.regnamespace and x.grantee <> c.relowner
      and p_kind = 'reader' and c.relname = 'stats_of_' || p_name and x.privilege_type = 'SELECT'
  ) g
  join pg_catalog.pg_roles r on r.oid = g.grantee
$$;
comment on function tasks.grantees(text, text) is 'Quoted names of the roles that were granted a type''s functions (worker, operator) or view (reader)';

create function tasks.grant_verbs(p_name text, p_workers text[], p_operators text[], p_readers text[]) returns void
language plpgsql volatile
as $$
declare
  v_grant text;
begin
  for v_grant in
    select pg_catalog.format('grant execute on function tasks.%I(%s) to %s', v.verb || '_' || p_name, v.arguments, r.role)
    from tasks.verbs() v
    cross join lateral (
      select pg_catalog.unnest(p_workers) union select pg_catalog.unnest(p_operators) where v.for_operators
    ) as r (role)
    union all
    select pg_catalog.format('grant select on tasks.%I to %s', 'stats_of_' || p_name, r.role)
    from pg_catalog.unnest(p_readers) r (role)
  loop
    execute v_grant;
  end loop;
end
$$;
comment on function tasks.grant_verbs(text, text[], text[], text[]) is 'Grants a type''s functions and view to roles, whose names come quoted';

create function tasks.create_verbs(p_table regclass, p_name text, p_old_name text default null) returns void
language plpgsql volatile
as $$
declare
  v_table     text := tasks.quoted(p_table);
  v_granted   text := coalesce(p_old_name, p_name);
  v_workers   text[] := tasks.grantees(v_granted, 'worker');
  v_operators text[] := tasks.grantees(v_granted, 'operator');
  v_readers   text[] := tasks.grantees(v_granted, 'reader');
  v_verb      record;
  v_name      text;
  v_namesake  regprocedure;
begin
  if p_old_name <> p_name then
    perform tasks.drop_verbs(p_old_name);
  end if;
  -- Running workers see nothing of a call that changes nothing.
  if tasks.verbs_are_current(p_table, p_name) then
    return;
  end if;
  for v_verb in select v.verb, v.arguments, tasks.source_of(v.verb, v_table, p_name) as source from tasks.verbs() v loop
    v_name := v_verb.verb || '_' || p_name;
    -- A function of the same name with other arguments (the original's, an older version's) would make calls ambiguous.
    for v_namesake in
      select p.oid
      from pg_catalog.pg_proc p
      where p.pronamespace = 'tasks'::pg_catalog.regnamespace and p.proname = v_name
        and p.oid is distinct from pg_catalog.to_regprocedure(pg_catalog.format('tasks.%I(%s)', v_name, v_verb.arguments))
    loop
      execute pg_catalog.format('drop function %s', v_namesake);
    end loop;
    begin
      execute v_verb.source;
    exception
      when invalid_function_definition then -- another result type or argument name
        execute pg_catalog.format('drop function if exists tasks.%I(%s)', v_name, v_verb.arguments);
        execute v_verb.source;
    end;
    execute pg_catalog.format('comment on function tasks.%I is %L', v_name, 'Generated by tasks.register for ' || v_table);
  end loop;
  perform tasks.create_stats_view(p_table, p_name);
  perform tasks.grant_verbs(p_name, v_workers, v_operators, v_readers);
  update tasks.types y set source_hash = tasks.source_hash(v_table, p_name) where y.table_id = p_table;
end
$$;
comment on function tasks.create_verbs(regclass, text, text) is 'Creates the functions and the view of a task type unless they are current, and grants them to whom the old ones were granted';

-- DDL waits a second at most, so that enqueuers behind it never wait longer.
create function tasks.execute_ddl(p_table regclass, p_statements text[]) returns void
language plpgsql volatile
as $$
declare
  v_statement text;
  v_timeout   text := pg_catalog.current_setting('lock_timeout');
  v_mode      text := 'access exclusive';
begin
  if coalesce(pg_catalog.cardinality(p_statements), 0) = 0 then
    return;
  end if;
  if v_timeout::interval = interval '0' or v_timeout::interval > interval '1 s' then
    perform pg_catalog.set_config('lock_timeout', '1s', true);
  end if;
  if not exists (select from pg_catalog.unnest(p_statements) s where not pg_catalog.starts_with(s, 'create ')) then
    v_mode := 'share row exclusive'; -- triggers and indexes: readers go on
  end if;
  -- The strongest lock first: growing one is how deadlocks are made.
  foreach v_statement in array pg_catalog.format('lock table %s in %s mode', tasks.quoted(p_table), v_mode) || p_statements loop
    begin
      execute v_statement;
    exception
      when lock_not_available then
        perform tasks.refuse('TQ008', pg_catalog.format('%s is in use by another transaction; nothing was changed', tasks.quoted(p_table)),
          'Repeat the call when no long transaction reads or writes the table. It wanted to: ' || pg_catalog.array_to_string(p_statements, '; '));
      when not_null_violation or check_violation or unique_violation then
        perform tasks.refuse('TQ005', pg_catalog.format('%s has rows that don''t fit: %s', tasks.quoted(p_table), sqlerrm),
          'Mend the rows, then repeat the call. It wanted to: ' || v_statement);
    end;
  end loop;
  -- An identity that was just added must start behind the ids that are there.
  if exists (select from pg_catalog.unnest(p_statements) s where s like '%alter column id add generated by default as identity%') then
    execute pg_catalog.format('select pg_catalog.setval(pg_catalog.pg_get_serial_sequence(%L, ''id''), greatest(coalesce(pg_catalog.max(t.id), 0), 1), coalesce(pg_catalog.max(t.id), 0) > 0) from %s t',
      tasks.quoted(p_table), tasks.quoted(p_table));
  end if;
  perform pg_catalog.set_config('lock_timeout', v_timeout, true);
end
$$;
comment on function tasks.execute_ddl(regclass, text[]) is 'Runs statements that lock a task table, with a lock_timeout of at most a second';

-- Leases that were taken while the type had no timeout have no end. A minute at least, so that a living worker renews its own
-- first; a row that an open transaction holds is about to end.
create function tasks.end_open_leases(p_table regclass, p_timeout interval) returns void
language plpgsql volatile
as $$
declare
  v_until timestamptz := tasks.clock() + greatest(tasks.elapsed(p_timeout), interval '1 minute');
begin
  update tasks.leases l set leased_until = v_until where l.table_id = p_table and l.leased_until = 'infinity';
  execute pg_catalog.format('update %1$s t set run_until = $1 where t.id = any (array(
    select r.id from %1$s r
    where r.started_at is not null and r.finished_at is null and r.failed_at is null and not r.canceled
      and r.run_worker is null and r.run_until is null
    order by r.id for no key update skip locked))', tasks.quoted(p_table))
  using v_until;
end
$$;
comment on function tasks.end_open_leases(regclass, interval) is 'Gives the leases of a type that had no timeout an end, now that it has one';

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
      'CREATE TABLE … (LIKE tasks.template INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES, your columns) first; names are taken literally, without quotes.');
  end if;
  perform tasks.check_relation(v_table);

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
    perform tasks.forget_dropped();
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
      where t.tgrelid = v_type.table_id and (t.tgname like 'pg\_tasks\_%' or t.tgname = 'notify_on_new')));
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
