-- 0021_create_limits: pause, concurrency and rate of a type across all processes.
--
-- Flow: acquire asks take_room how many tasks it may claim. For a type with a limit that decision is serialised by an
-- advisory lock for the length of the acquire's transaction: counting and claiming are one step, so no two acquires share a
-- free place. An older snapshot would count what is no longer so: REPEATABLE READ is refused. Ended tasks free places: a
-- statement trigger, there only while the type has a limit, announces it to sleepers. Settings hold from the next acquire on.
-- Lock order: the type's limit lock (advisory, class 1886415985), then what acquire locks. Who changes a limit takes the
-- registration lock (0011) before it, and the table too where it must change (change_limits); who pauses or resumes only updates
-- the registry row.

begin isolation level read committed;
select tasks.start_migration(21, 'create_limits');

alter table tasks.types
  add column paused_at timestamptz,
  add column paused_reason text,
  add column concurrency integer,
  add column rate_count integer,
  add column rate_interval interval,
  add column rate_burst integer,
  add column key_columns text[],
  add column key_concurrency integer,
  add column key_on_retry text,
  add column limited boolean not null
    generated always as (paused_at is not null or concurrency is not null or rate_count is not null or key_columns is not null) stored;
comment on column tasks.types.limited is 'Whether acquire must ask for room';
comment on column tasks.types.paused_at is 'When the type was paused; NULL: it is not';
comment on column tasks.types.paused_reason is 'Why it was paused';
comment on column tasks.types.concurrency is 'Most tasks that run at once in all processes; NULL: no limit';
comment on column tasks.types.rate_count is 'Most tasks per rate_interval; NULL: no limit';
comment on column tasks.types.rate_interval is 'Interval of the rate';
comment on column tasks.types.rate_burst is 'How many of an idle interval''s tasks may start at once';
comment on column tasks.types.key_columns is 'Columns whose values make the key; NULL: no keys';
comment on column tasks.types.key_concurrency is 'Most tasks of one key that run at once';
comment on column tasks.types.key_on_retry is 'What a task that waits for its retry does to its key: block or step_aside';

-- One row per limited rate; a bucket of places that fills evenly.
create table tasks.rates (
  table_id   regclass primary key,
  places     double precision not null,
  counted_at timestamptz not null
);
comment on table tasks.rates is 'Places left by the rate of a type; written by acquire under the type''s limit lock';
comment on column tasks.rates.table_id is 'The task table';
comment on column tasks.rates.places is 'Places at counted_at';
comment on column tasks.rates.counted_at is 'When places was counted';

-- Places of the rate at an instant; a full bucket for a type that has not started anything yet.
create function tasks.rate_places(p_type tasks.types, p_now timestamptz) returns double precision
language sql stable
as $$
  select least(p_type.rate_burst, coalesce((
    select r.places + greatest(0, pg_catalog.date_part('epoch', p_now - r.counted_at)) * p_type.rate_count / pg_catalog.date_part('epoch', p_type.rate_interval)
    from tasks.rates r where r.table_id = p_type.table_id), p_type.rate_burst))
$$;
comment on function tasks.rate_places(tasks.types, timestamptz) is 'How many tasks the rate of a type lets start at an instant';

-- Claimed and not ended, straight from the index of running tasks.
create function tasks.count_running(p_table regclass, p_most integer) returns bigint
language plpgsql volatile
set enable_seqscan to off
as $$
declare
  v_count bigint;
begin
  execute pg_catalog.format('select pg_catalog.count(*) from (select from %s t
    where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled limit $1) s', tasks.quoted(p_table))
  into v_count using p_most;
  return v_count;
end
$$;
comment on function tasks.count_running(regclass, integer) is 'Running tasks of a table, counted up to a limit';

-- As in finish (0006): who holds what others wait for, and is cut off, lets it go within a lease.
create function tasks.limit_idleness(p_timeout interval) returns void
language plpgsql volatile
as $$
declare
  v_limit double precision := pg_catalog.date_part('epoch', p_timeout);
begin
  if v_limit < 2000000 and (
    pg_catalog.current_setting('idle_in_transaction_session_timeout') = '0'
    or pg_catalog.date_part('epoch', pg_catalog.current_setting('idle_in_transaction_session_timeout')::interval) > v_limit)
  then
    perform pg_catalog.set_config('idle_in_transaction_session_timeout', pg_catalog.ceil(v_limit * 1000)::bigint::text, true);
  end if;
end
$$;
comment on function tasks.limit_idleness(interval) is 'Lowers idle_in_transaction_session_timeout to the length of a lease for the caller''s transaction; never raises it';

create function tasks.take_room(p_type tasks.types, p_max_num integer) returns integer
language plpgsql volatile
as $$
declare
  v_type tasks.types;
  v_room integer := p_max_num;
begin
  if p_type.paused_at is not null then
    return 0;
  elsif pg_catalog.current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    perform tasks.refuse('TQ003', pg_catalog.format('acquire: %s has limits, which can''t be decided in the isolation level %s', tasks.quoted(p_type.table_id), pg_catalog.current_setting('transaction_isolation')),
      'Acquire in READ COMMITTED; the task itself may be worked off in any isolation level.');
  end if;
  perform pg_catalog.pg_advisory_xact_lock(1886415985, p_type.table_id::oid::integer);
  -- Having waited, look again: the settings may be others now.
  select y.* into v_type from tasks.types y where y.table_id = p_type.table_id;
  perform tasks.limit_idleness(v_type.timeout);
  if v_type.table_id is null or v_type.paused_at is not null then
    return 0;
  end if;
  if v_type.concurrency is not null then
    v_room := least(v_room, greatest(0, v_type.concurrency - tasks.count_running(v_type.table_id, v_type.concurrency)));
  end if;
  if v_type.rate_count is not null then
    -- From the future: the clock was set back. Nothing would be counted until it is there again.
    update tasks.rates r set counted_at = tasks.clock() where r.table_id = v_type.table_id and r.counted_at > tasks.clock();
    v_room := least(v_room, pg_catalog.floor(tasks.rate_places(v_type, tasks.clock())))::integer;
  end if;
  if v_room > 0 and v_type.key_columns is not null then
    perform tasks.admit_freed(v_type);
  end if;
  return v_room;
end
$$;
comment on function tasks.take_room(tasks.types, integer) is
  'Serialises the acquires of a limited type and says how many tasks this one may claim';

create function tasks.spend_rate(p_type tasks.types, p_claimed integer, p_now timestamptz) returns void
language sql volatile
as $$
  insert into tasks.rates as r (table_id, places, counted_at)
  values (p_type.table_id, tasks.rate_places(p_type, p_now) - p_claimed, p_now)
  on conflict on constraint rates_pkey do update set places = excluded.places, counted_at = excluded.counted_at
$$;
comment on function tasks.spend_rate(tasks.types, integer, timestamptz) is 'Takes claimed tasks off the rate; under the type''s limit lock';

-- NULL: room comes only with a notification.
create function tasks.room_in(p_type tasks.types, p_now timestamptz) returns double precision
language plpgsql volatile
as $$
begin
  if p_type.paused_at is not null then
    return null;
  elsif p_type.concurrency is not null and tasks.count_running(p_type.table_id, p_type.concurrency) >= p_type.concurrency then
    return null;
  elsif p_type.rate_count is not null then
    return greatest(0, pg_catalog.ceil(1000 * (1 - tasks.rate_places(p_type, p_now)) * pg_catalog.date_part('epoch', p_type.rate_interval) / p_type.rate_count));
  end if;
  return 0;
end
$$;
comment on function tasks.room_in(tasks.types, timestamptz) is 'Milliseconds until a limited type has room by time alone; NULL: not before something ends or is resumed';

-- As the trigger of 0002, for those who wake workers without having enqueued.
create function tasks.announce(p_table regclass) returns void
language plpgsql volatile
as $$
begin
  if pg_catalog.pg_try_advisory_xact_lock_shared(1886415981, p_table::oid::integer)
    and (pg_catalog.pg_try_advisory_lock(1886415982, p_table::oid::integer)
      and pg_catalog.pg_advisory_unlock(1886415982, p_table::oid::integer))
    and not (pg_catalog.pg_try_advisory_lock_shared(1886415983, p_table::oid::integer)
      and pg_catalog.pg_advisory_unlock_shared(1886415983, p_table::oid::integer))
  then
    return;
  end if;
  if pg_catalog.pg_notification_queue_usage() < 0.5 then
    perform pg_catalog.pg_notify('pg_tasks', (
      select pg_catalog.concat(n.nspname, '.', c.relname) from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = p_table));
  end if;
end
$$;
comment on function tasks.announce(regclass) is 'Wakes sleeping workers of a type at commit';

-- Columns are known by name, which survives a dump; a rename is read from the index that was made on them. NULL: the index is
-- not there any more, because a column was dropped or the index itself.
create function tasks.indexed_columns(p_table regclass, p_columns text[], p_prefix text, p_more integer default 0) returns text[]
language sql stable
as $$
  select (
    select pg_catalog.array_agg(a.attname::pg_catalog.text order by k.n)
    from pg_catalog.unnest(i.indkey) with ordinality k (attnum, n)
    join pg_catalog.pg_attribute a on a.attrelid = p_table and a.attnum = k.attnum
    where k.n <= pg_catalog.cardinality(p_columns))
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  where i.indrelid = p_table and i.indisvalid and i.indnkeyatts = pg_catalog.cardinality(p_columns) + p_more
    and pg_catalog.starts_with(c.relname, p_prefix)
  limit 1
$$;
comment on function tasks.indexed_columns(regclass, text[], text, integer) is
  'Names that the columns of a feature''s index bear now, p_more others behind them not counted; NULL: there is no such index';

-- A type's own operator (citext, say) need not be in the search path of whoever calls.
create function tasks.equals(p_table regclass, p_column text) returns text
language plpgsql stable
as $$
declare
  v_type pg_catalog.oid := (select a.atttypid from pg_catalog.pg_attribute a where a.attrelid = p_table and a.attname = p_column);
  v_base pg_catalog.oid;
begin
  loop
    v_base := (select t.typbasetype from pg_catalog.pg_type t where t.oid = v_type and t.typtype = 'd');
    exit when v_base is null;
    v_type := v_base;
  end loop;
  return coalesce((
    select pg_catalog.format('operator(%I.%s)', n.nspname, o.oprname)
    from pg_catalog.pg_opclass c
    join pg_catalog.pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
    join pg_catalog.pg_amop p on p.amopfamily = c.opcfamily and p.amopstrategy = 3 and p.amoplefttype = c.opcintype and p.amoprighttype = c.opcintype
    join pg_catalog.pg_operator o on o.oid = p.amopopr
    join pg_catalog.pg_namespace n on n.oid = o.oprnamespace
    where c.opcintype = v_type and c.opcdefault), 'operator(pg_catalog.=)');
end
$$;
comment on function tasks.equals(regclass, text) is 'Operator by which an index compares the values of a column, qualified';

-- Not the table's row type: as a whole record, a NOT NULL domain elsewhere in the table would refuse to be left out.
create function tasks.record_of(p_table regclass, p_columns text[]) returns text
language sql stable
as $$
  select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname) || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod), ', ' order by u.o)
  from pg_catalog.unnest(p_columns) with ordinality u (c, o)
  join pg_catalog.pg_attribute a on a.attrelid = p_table and a.attname = u.c and a.attnum > 0 and not a.attisdropped
$$;
comment on function tasks.record_of(regclass, text[]) is 'Some columns of a table as the column definitions of jsonb_to_record';

-- What a key waits for writes down its going in the transaction in which it goes: whoever was held because of it is held by
-- an acquire that saw it, so one that comes after the commit finds both (0022). Nobody waits for anybody here.
create function tasks.free_room() returns trigger
language plpgsql volatile
-- A key is written here and read in another session: its text must not follow this one's settings.
set datestyle to 'ISO, YMD'
set intervalstyle to 'postgres'
set extra_float_digits to 1
set lc_monetary to 'C'
as $$
declare
  v_type  tasks.types;
  v_freed bigint := 0;
  v_keys  bigint;
begin
  -- No more than a producer may read, who replaces waiting tasks (0014).
  select y.table_id, y.notify, y.concurrency, y.key_columns into v_type.table_id, v_type.notify, v_type.concurrency, v_type.key_columns
  from tasks.types y where y.table_id = tg_relid::regclass;
  if not found then
    return null;
  end if;
  if v_type.concurrency is not null then
    if tg_op = 'DELETE' then
      v_freed := (select pg_catalog.count(*) from gone o where tasks.is_running(o.started_at, o.finished_at, o.failed_at, o.canceled));
    else
      v_freed := (select pg_catalog.count(*) from old_rows o join new_rows n on n.id = o.id
        where tasks.is_running(o.started_at, o.finished_at, o.failed_at, o.canceled)
          and not tasks.is_running(n.started_at, n.finished_at, n.failed_at, n.canceled));
    end if;
  end if;
  -- Where a column of the key was dropped, acquire says so (0022), and ends go on.
  v_type.key_columns := tasks.columns_of_key(v_type);
  if v_type.key_columns is not null then
    execute tasks.source_of_freed(v_type, tg_op) using v_type.table_id;
    get diagnostics v_keys = row_count;
    v_freed := v_freed + v_keys;
  end if;
  if v_freed > 0 and v_type.notify then
    perform tasks.announce(v_type.table_id);
  end if;
  return null;
end
$$;
comment on function tasks.free_room() is 'Trigger on the table of a limited type: tasks that end make room for others';

create function tasks.check_limit_triggers(p_type tasks.types) returns table (remedy text)
language sql stable
as $$
  select case when g.wanted then
      pg_catalog.format('create trigger %I %s', g.name, pg_catalog.format(g.event, tasks.quoted(p_type.table_id)))
    else pg_catalog.format('drop trigger %I on %s', g.name, tasks.quoted(p_type.table_id)) end
  from (values
    ('pg_tasks_room_update', 'after update on %s referencing old table as old_rows new table as new_rows for each statement execute function tasks.free_room()',
      p_type.concurrency is not null or p_type.key_columns is not null),
    ('pg_tasks_room_delete', 'after delete on %s referencing old table as gone for each statement execute function tasks.free_room()',
      p_type.concurrency is not null or p_type.key_columns is not null),
    ('pg_tasks_unhold', 'before update on %s for each row when (old.held and new.held) execute function tasks.unhold()',
      p_type.key_columns is not null)
  ) as g (name, event, wanted)
  where g.wanted is distinct from exists (select from pg_catalog.pg_trigger t where t.tgrelid = p_type.table_id and t.tgname = g.name)
$$;
comment on function tasks.check_limit_triggers(tasks.types) is 'Statements that give a type''s table the triggers that its limits need, or take them away';

-- An acquire has read the table when it comes to the limit lock. So of a type that is limited already, the table comes first, and
-- alone: whoever holds the limit lock holds the table too. Else nobody wants the limit lock yet, and readers may go on.
create function tasks.change_limits(p_type tasks.types, p_statements text[]) returns void
language plpgsql volatile
as $$
begin
  if p_type.limited then
    perform tasks.execute_ddl(p_type.table_id, p_statements, true);
  end if;
  -- Decisions that are under way end first.
  perform pg_catalog.pg_advisory_xact_lock(1886415985, p_type.table_id::oid::integer);
  if p_type.limited is not true then
    perform tasks.execute_ddl(p_type.table_id, p_statements);
  end if;
end
$$;
comment on function tasks.change_limits(tasks.types, text[]) is 'Takes the limit lock of a type, as it is in the registry, and runs statements on its table';

-- A name that is legible, below 63 bytes, and another for other columns.
create function tasks.index_name(p_kind text, p_type tasks.types, p_columns text[]) returns text
language sql immutable
as $$
  select pg_catalog.concat('pg_tasks_', p_kind, '_', pg_catalog.left(pg_catalog.regexp_replace(p_type.function_name, '[^a-zA-Z0-9_]', '', 'g'), 30),
    '_', pg_catalog.left(pg_catalog.md5(p_type.function_name || p_columns::text), 8))
$$;
comment on function tasks.index_name(text, tasks.types, text[]) is 'Name of an index that a feature gives a task table';

create function tasks.drop_indexes(p_table regclass, p_prefixes text[]) returns void
language plpgsql volatile
as $$
declare
  v_index text;
begin
  for v_index in
    select pg_catalog.format('%I.%I', n.nspname, c.relname)
    from pg_catalog.pg_index i
    join pg_catalog.pg_class c on c.oid = i.indexrelid
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where i.indrelid = p_table and exists (select from pg_catalog.unnest(p_prefixes) u (prefix) where pg_catalog.starts_with(c.relname, u.prefix))
  loop
    execute 'drop index ' || v_index;
  end loop;
end
$$;
comment on function tasks.drop_indexes(regclass, text[]) is 'Drops the indexes that a feature gave a task table, whatever the type was called then';

create function tasks.check_columns(p_verb text, p_table regclass, p_columns text[], p_hint text) returns void
language plpgsql stable
as $$
declare
  v_amiss text;
begin
  if pg_catalog.cardinality(p_columns) = 0 then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: columns must not be empty', p_verb), p_hint);
  elsif pg_catalog.array_ndims(p_columns) > 1 or pg_catalog.array_position(p_columns, null) is not null
    or (select pg_catalog.count(distinct c) from pg_catalog.unnest(p_columns) c) < pg_catalog.cardinality(p_columns)
  then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: columns must be different names, not %s', p_verb, p_columns), p_hint);
  end if;
  select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ') into v_amiss from pg_catalog.unnest(p_columns) c
  where not exists (select from pg_catalog.pg_attribute a where a.attrelid = p_table and a.attname = c and a.attnum > 0 and not a.attisdropped);
  if v_amiss is not null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: columns: %s has no column %s', p_verb, p_table, v_amiss), p_hint);
  end if;
  -- What the queue writes during a task's life is no property of the task.
  select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ') into v_amiss from pg_catalog.unnest(p_columns) c
  where c in ('id', 'planned_to', 'started_at', 'finished_at', 'execution_count', 'canceled', 'comment', 'run_token', 'run_worker', 'run_until',
    'lost_count', 'held', 'failed_at', 'canceled_at', 'failure_reason', 'last_error');
  if v_amiss is not null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: columns: the queue itself writes %s', p_verb, v_amiss), p_hint);
  end if;
  select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ') into v_amiss
  from pg_catalog.pg_attribute a
  where a.attrelid = p_table and a.attname = any (p_columns)
    and pg_catalog.format_type(a.atttypid, null) in ('json', 'xml', 'point', 'box', 'polygon', 'path', 'line', 'lseg', 'circle');
  if v_amiss is not null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: columns: values of %s can''t be compared', p_verb, v_amiss), p_hint);
  end if;
end
$$;
comment on function tasks.check_columns(text, regclass, text[], text) is 'Refuses columns that a table hasn''t, or that can''t make two tasks alike';

create function tasks.find_registered(p_verb text, p_schema text, p_table text, p_lock boolean default true) returns tasks.types
language plpgsql volatile
as $$
declare
  v_type tasks.types;
begin
  if p_lock then
    perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  end if;
  v_type := tasks.find_type(p_schema, p_table);
  if v_type.table_id is null or tasks.quoted(v_type.table_id) is null then
    perform tasks.refuse('TQ004', pg_catalog.format('%s: %s.%s is not registered', p_verb, coalesce(pg_catalog.quote_ident(p_schema), 'NULL'), coalesce(pg_catalog.quote_ident(p_table), 'NULL')), 'Call tasks.register(schema, table).');
  end if;
  return v_type;
end
$$;
comment on function tasks.find_registered(text, text, text, boolean) is 'Registry row of a table, under the registration lock unless told otherwise, or raises that there is none';

-- Neither takes the registration lock: an emergency waits for no DDL, and whoever has acquired may pause in the same transaction.
create function tasks.pause(schema_name text, table_name text, reason text default null) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types := tasks.find_registered('pause', $1, $2, false);
begin
  update tasks.types y set paused_at = tasks.clock(), paused_reason = $3 where y.table_id = v_type.table_id and y.paused_at is null;
end
$$;
comment on function tasks.pause(text, text, text) is 'From now on no task of the type is acquired, until it is resumed; running ones go on';

create function tasks.resume(schema_name text, table_name text) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types := tasks.find_registered('resume', $1, $2, false);
begin
  update tasks.types y set paused_at = null, paused_reason = null where y.table_id = v_type.table_id;
  perform tasks.announce(v_type.table_id);
end
$$;
comment on function tasks.resume(text, text) is 'Resumes a paused type';

create function tasks.limit_concurrency(schema_name text, table_name text, concurrency integer) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types := tasks.find_registered('limit_concurrency', $1, $2);
  v_old  tasks.types := v_type;
begin
  if $3 < 1 then
    perform tasks.refuse('TQ003', pg_catalog.format('limit_concurrency: concurrency must be at least 1, not %s', $3), 'NULL: no limit; tasks.pause stops a type.');
  end if;
  v_type.concurrency := $3;
  perform tasks.change_limits(v_old, (select pg_catalog.array_agg(c.remedy) from tasks.check_limit_triggers(v_type) c));
  update tasks.types y set concurrency = $3 where y.table_id = v_type.table_id;
  perform tasks.announce(v_type.table_id);
end
$$;
comment on function tasks.limit_concurrency(text, text, integer) is 'At most so many tasks of the type run at once in all processes; NULL: no limit';

create function tasks.limit_rate(schema_name text, table_name text, rate integer, per interval default '1 s', burst integer default 1) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types := tasks.find_registered('limit_rate', $1, $2);
begin
  if $3 < 1 then
    perform tasks.refuse('TQ003', pg_catalog.format('limit_rate: rate must be at least 1, not %s', $3), 'NULL: no limit; tasks.pause stops a type.');
  elsif $3 is not null and ($5 is null or $5 < 1) then
    perform tasks.refuse('TQ003', pg_catalog.format('limit_rate: burst must be at least 1, not %s', coalesce($5::text, 'NULL')));
  elsif $3 is not null and ($4 is null or $4 = interval '0') then
    perform tasks.refuse('TQ003', pg_catalog.format('limit_rate: per must be positive, not %s', coalesce($4::text, 'NULL')));
  end if;
  perform tasks.check_interval('limit_rate: per', $4);
  if (v_type.rate_count, v_type.rate_interval, v_type.rate_burst) is not distinct from
    ($3, case when $3 is not null then tasks.elapsed($4) end, case when $3 is not null then $5 end)
  then
    return;
  end if;
  -- Decisions that are under way end first.
  perform pg_catalog.pg_advisory_xact_lock(1886415985, v_type.table_id::oid::integer);
  update tasks.types y set rate_count = $3, rate_interval = case when $3 is not null then tasks.elapsed($4) end,
    rate_burst = case when $3 is not null then $5 end
  where y.table_id = v_type.table_id;
  delete from tasks.rates r where r.table_id = v_type.table_id;
  perform tasks.announce(v_type.table_id);
end
$$;
comment on function tasks.limit_rate(text, text, integer, interval, integer) is
  'At most rate tasks of the type start per interval in all processes: evenly, or with a larger burst several at once after a lull; NULL: no limit';

commit;
