-- 0022_create_keys: order and concurrency per key, on the user's own columns.
--
-- Flow: a type's key is the values of some of its columns. Acquire passes what it picked to admit, which lets a task through
-- while its key has room and holds it back otherwise. A held task leaves the ready index, so ten thousand of them in front
-- cost nothing. Whatever others of its key may be waiting for (a running task, one that waits for its retry, an earlier one)
-- leaves a row in tasks.freed_keys, in the transaction in which it goes; the next acquire lets the first held ones of these
-- keys in again and decides anew.
-- Why none is left behind: a task is held for a reason that the acquire saw committed; the reason's going is written down in
-- a later commit; and acquires take turns, so one that reads that row sees the held task too. Ends only insert: they wait for
-- nobody, in any isolation level.
-- Lock order: the type's limit lock, freed_keys (acquires, and who changes the keys), then held and picked rows, skip locked.

begin isolation level read committed;
select tasks.start_migration(22, 'create_keys');

-- The key as one text: values as JSON, so that no value can imitate another; NULL in any column, in JSON too: no key, no limit.
create function tasks.key_of(p_type tasks.types, p_alias text) returns text
language sql immutable
as $$
  select pg_catalog.format('case when %s then pg_catalog.jsonb_build_array(%s)::text end',
    pg_catalog.string_agg(pg_catalog.format('pg_catalog.to_jsonb(%s.%I) <> ''null''', p_alias, c), ' and '), pg_catalog.string_agg(pg_catalog.format('%s.%I', p_alias, c), ', '))
  from pg_catalog.unnest(p_type.key_columns) c
$$;
comment on function tasks.key_of(tasks.types, text) is 'SQL expression of a type''s key for a row of the given alias';

create function tasks.same_key(p_type tasks.types, p_left text, p_right text) returns text
language sql stable
as $$
  select pg_catalog.string_agg(pg_catalog.format('%s.%I %s %s.%2$I', p_left, c, tasks.equals(p_type.table_id, c), p_right), ' and ')
  from pg_catalog.unnest(p_type.key_columns) c
$$;
comment on function tasks.same_key(tasks.types, text, text) is 'SQL condition that two rows have the same key, by the columns, so that an index serves';

create function tasks.columns_of_key(p_type tasks.types) returns text[]
language sql stable
as $$
  select tasks.indexed_columns(p_type.table_id, p_type.key_columns, 'pg_tasks_key_', 3) where p_type.key_columns is not null
$$;
comment on function tasks.columns_of_key(tasks.types) is 'Names that the columns of a type''s key bear now; NULL: it has no key, or one of them is gone';

create function tasks.with_key(p_type tasks.types) returns tasks.types
language plpgsql stable
as $$
declare
  v_columns text[] := tasks.columns_of_key(p_type);
begin
  if v_columns is null then
    perform tasks.refuse('TQ005', pg_catalog.format('%s: there is no index any more on the columns of its key: %s', tasks.quoted(p_type.table_id),
        pg_catalog.array_to_string(p_type.key_columns, ', ')),
      'If one of them was dropped, call tasks.limit_keys(schema, table, columns) with others, or with NULL; else with the same ones.');
  end if;
  p_type.key_columns := v_columns;
  return p_type;
end
$$;
comment on function tasks.with_key(tasks.types) is 'A type with the names that the columns of its key bear now, or raises that they are gone';

-- written_by lets an acquire step over what its session has seen deleted, which an old snapshot would keep in its way.
create table tasks.freed_keys (
  id         bigint generated always as identity primary key,
  table_id   regclass not null,
  key        jsonb not null,
  written_by xid8 not null default pg_catalog.pg_current_xact_id()
);
comment on table tasks.freed_keys is 'Keys of which something that others may wait for has ended; written by ends, taken by the next acquire';
comment on column tasks.freed_keys.id is 'Identity';
comment on column tasks.freed_keys.table_id is 'The task table';
comment on column tasks.freed_keys.key is 'Values of the key columns, in their order';
comment on column tasks.freed_keys.written_by is 'Transaction that wrote it';
create index freed_keys_table_idx on tasks.freed_keys (table_id, written_by, id);

-- Unfinished before; gone from its place in the key after.
create function tasks.source_of_freed(p_type tasks.types, p_operation text) returns text
language sql immutable
as $$
  select pg_catalog.format('insert into tasks.freed_keys (table_id, key)
    select distinct $1, s.key::pg_catalog.jsonb from (
      select %s as key from %s where o.finished_at is null and o.failed_at is null and not o.canceled%s) s
    where s.key is not null',
    tasks.key_of(p_type, 'o'),
    case p_operation when 'DELETE' then 'gone o' else 'old_rows o join new_rows n on n.id = o.id' end,
    case p_operation when 'DELETE' then '' else pg_catalog.format(' and (
      n.finished_at is not null or n.failed_at is not null or n.canceled
      or o.started_at is not null and n.started_at is null
      or o.execution_count > 0 and n.execution_count = 0
      or (o.priority, o.planned_to) is distinct from (n.priority, n.planned_to)
      or %s)',
      (select pg_catalog.string_agg(pg_catalog.format('o.%I is distinct from n.%1$I', c), ' or ') from pg_catalog.unnest(p_type.key_columns) c)) end)
$$;
comment on function tasks.source_of_freed(tasks.types, text) is 'Statement of the trigger free_room that writes down the keys of tasks that ended, went back to wait, or left their place';

create function tasks.unhold() returns trigger
language plpgsql volatile
as $$
declare
  v_type    tasks.types;
  v_columns text[];
begin
  -- As in free_room.
  select y.table_id, y.key_columns into v_type.table_id, v_type.key_columns from tasks.types y where y.table_id = tg_relid::regclass;
  v_columns := tasks.columns_of_key(v_type);
  if new.finished_at is not null or new.failed_at is not null or new.canceled or new.started_at is not null
    or old.finished_at is not null or old.failed_at is not null or old.canceled or new.planned_to > tasks.clock()
    or exists (select from pg_catalog.unnest(v_columns) c where pg_catalog.to_jsonb(old) -> c is distinct from pg_catalog.to_jsonb(new) -> c)
  then
    new.held := false;
  end if;
  return new;
end
$$;
comment on function tasks.unhold() is 'Trigger: a held task that ends, is planned for later or gets another key is no longer held back';

-- Where a retry blocks its key, those that wait for theirs come first, and among them the earliest; it has a place as soon as
-- fewer run than may. More may wait for their retry than have places: the limit came later, or was higher.
create function tasks.admit_freed(p_type tasks.types) returns void
language plpgsql volatile
set enable_seqscan to off
set lc_monetary to 'C'
as $$
declare
  v_most    integer := 1000;
  v_setting text := 'pg_tasks.freed_' || p_type.table_id::oid;
  v_xmin    xid8 := pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot());
  v_seen    xid8 := coalesce(nullif(pg_catalog.current_setting(v_setting, true), ''), '0')::xid8;
  v_count   integer;
  v_keys    jsonb[];
  v_ids     bigint[];
  v_of      jsonb[];
  v_got     bigint[];
begin
  p_type := tasks.with_key(p_type);
  with first as materialized (
    select f.id from tasks.freed_keys f where f.table_id = p_type.table_id and f.written_by >= v_seen
    order by f.written_by, f.id limit v_most
  ), taken as (
    delete from tasks.freed_keys f using first s where f.id = s.id returning f.key
  )
  select pg_catalog.count(*), pg_catalog.array_agg(distinct t.key) into v_count, v_keys from taken t;
  -- All that is older than the oldest transaction that was under way is taken.
  if v_count < v_most then
    perform pg_catalog.set_config(v_setting, v_xmin::text, false);
  end if;
  if v_count = 0 then
    return;
  end if;
  execute pg_catalog.format($query$
    select pg_catalog.array_agg(h.id), pg_catalog.array_agg(f.key)
    from pg_catalog.unnest($1) f (key)
    cross join lateral pg_catalog.jsonb_to_record(%4$s) k (%5$s)
    cross join lateral (
      (select h.id::bigint as id from %1$s h
      where $3 and %2$s and h.held and h.started_at is null and h.finished_at is null and h.failed_at is null and not h.canceled
        and h.execution_count > 0
      order by h.priority, h.planned_to, h.id
      limit greatest(0, $2 - (select pg_catalog.count(*) from (
        select from %1$s b
        where %3$s and b.finished_at is null and b.failed_at is null and not b.canceled and b.started_at is not null
        limit $2) running)))
      union all
      (select h.id::bigint from %1$s h
      where %2$s and h.held and h.started_at is null and h.finished_at is null and h.failed_at is null and not h.canceled
        and ($3 and h.execution_count > 0) is not true
      order by h.priority, h.planned_to, h.id
      limit greatest(0, $2 - (select pg_catalog.count(*) from (
        select from %1$s b
        where %3$s and b.finished_at is null and b.failed_at is null and not b.canceled
          and (b.started_at is not null or $3 and b.execution_count > 0)
        limit $2) taken)))
    ) h
  $query$, tasks.quoted(p_type.table_id), tasks.same_key(p_type, 'h', 'k'), tasks.same_key(p_type, 'b', 'k'),
    (select pg_catalog.format('pg_catalog.jsonb_build_object(%s)', pg_catalog.string_agg(pg_catalog.format('%L, f.key -> %s', c, o - 1), ', '))
     from pg_catalog.unnest(p_type.key_columns) with ordinality u (c, o)),
    tasks.record_of(p_type.table_id, p_type.key_columns))
  into v_ids, v_of using v_keys, p_type.key_concurrency, p_type.key_on_retry = 'block';
  if v_ids is null then
    return;
  end if;
  execute pg_catalog.format('
    with free as materialized (select t.id from %1$s t where t.id = any ($1) for no key update skip locked),
    admitted as (update %1$s t set held = false from free f where t.id = f.id returning t.id)
    select pg_catalog.array_agg(a.id::bigint) from admitted a', tasks.quoted(p_type.table_id))
  into v_got using v_ids;
  -- Somebody's open transaction has it: the next acquire looks again.
  insert into tasks.freed_keys (table_id, key)
  select distinct p_type.table_id, u.key from rows from (pg_catalog.unnest(v_ids), pg_catalog.unnest(v_of)) as u (id, key)
  where u.id <> all (coalesce(v_got, '{}'));
end
$$;
comment on function tasks.admit_freed(tasks.types) is 'Lets the first held tasks of freed keys in again; under the type''s limit lock';

create function tasks.has_freed(p_type tasks.types) returns boolean
language sql volatile
set enable_seqscan to off
as $$
  select exists (
    select from tasks.freed_keys f
    where f.table_id = p_type.table_id
      and f.written_by >= coalesce(nullif(pg_catalog.current_setting('pg_tasks.freed_' || p_type.table_id::oid, true), ''), '0')::xid8)
$$;
comment on function tasks.has_freed(tasks.types) is 'Whether an acquire would let held tasks in again';

-- One look at all picked tasks. A place of a key is taken by a running task and, where a retry blocks its key, by one that
-- waits for its retry; such a one goes before the others of its key, and of its like the earliest.
-- Nobody passes one of its key that comes earlier, be it held, locked by somebody, or kept back by a trigger.
create function tasks.judge(p_type tasks.types, p_ids bigint[]) returns table (task_id bigint, admitted boolean)
language plpgsql volatile
set enable_seqscan to off
as $$
begin
  return query execute pg_catalog.format($query$
    select s.id, s.keyless or s.busy + s.place <= $2 and not s.behind
    from (
      select t.id::bigint as id, %3$s is null as keyless,
        pg_catalog.row_number() over (partition by %4$s order by $3 and t.execution_count > 0 desc, u.place) as place,
        (select pg_catalog.count(*) from (
          select from %1$s b
          where %2$s and b.finished_at is null and b.failed_at is null and not b.canceled and b.id <> all ($1)
            and (b.started_at is not null or $3 and b.execution_count > 0
              and (t.execution_count = 0 or (b.priority, b.planned_to, b.id) < (t.priority, t.planned_to, t.id)))
          limit $2) taken) as busy,
        exists (
          select from %1$s b
          where %2$s and b.finished_at is null and b.failed_at is null and not b.canceled and b.started_at is null
            and (b.held or b.planned_to <= $4) and b.id <> all ($1)
            and not ($3 and t.execution_count > 0 and b.execution_count = 0)
            and (b.priority, b.planned_to, b.id) < (t.priority, t.planned_to, t.id)) as behind,
        u.place as picked
      from pg_catalog.unnest($1) with ordinality u (id, place)
      join %1$s t on t.id = u.id
    ) s
    order by s.picked
  $query$, tasks.quoted(p_type.table_id), tasks.same_key(p_type, 'b', 't'), tasks.key_of(p_type, 't'),
    (select pg_catalog.string_agg(pg_catalog.format('t.%I', c), ', ') from pg_catalog.unnest(p_type.key_columns) c))
  using p_ids, p_type.key_concurrency, p_type.key_on_retry = 'block', tasks.clock();
end
$$;
comment on function tasks.judge(tasks.types, bigint[]) is 'Which of some picked tasks their keys let through now';

create function tasks.admit(p_type tasks.types, p_ids bigint[]) returns bigint[]
language plpgsql volatile
as $$
declare
  v_admitted bigint[];
  v_blocked  bigint[];
  v_one      bigint;
begin
  p_type := tasks.with_key(p_type);
  select coalesce(pg_catalog.array_agg(j.task_id) filter (where j.admitted), '{}'), coalesce(pg_catalog.array_agg(j.task_id) filter (where not j.admitted), '{}')
  into v_admitted, v_blocked
  from tasks.judge(p_type, p_ids) j;
  if pg_catalog.cardinality(v_blocked) > 0 then
    begin
      execute pg_catalog.format('update %s t set held = true where t.id = any ($1)', tasks.quoted(p_type.table_id)) using v_blocked;
      perform tasks.check_deferred(p_type.table_id);
    exception
      when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available
        or insufficient_privilege or undefined_table or undefined_function or undefined_column then
        raise;
      when others then
        -- A user's trigger refuses one of them: it stays in front, and costs.
        foreach v_one in array v_blocked loop
          begin
            execute pg_catalog.format('update %s t set held = true where t.id = $1', tasks.quoted(p_type.table_id)) using v_one;
            perform tasks.check_deferred(p_type.table_id);
          exception
            when transaction_rollback or insufficient_resources or operator_intervention then
              raise;
            when others then
              raise warning 'task % of % could not be held back: %', v_one, tasks.quoted(p_type.table_id), sqlerrm;
          end;
        end loop;
    end;
  end if;
  return v_admitted;
end
$$;
comment on function tasks.admit(tasks.types, bigint[]) is 'Of picked tasks, those whose key has room, in order; the others are held back';

-- For what no trigger saw: rows written with session_replication_role = replica, or held by hand.
create function tasks.admit_stranded(p_type tasks.types) returns bigint
language plpgsql volatile
set enable_seqscan to off
-- As in free_room.
set datestyle to 'ISO, YMD'
set intervalstyle to 'postgres'
set extra_float_digits to 1
set lc_monetary to 'C'
as $$
declare
  v_count bigint;
begin
  p_type := tasks.with_key(p_type);
  execute pg_catalog.format('insert into tasks.freed_keys (table_id, key)
    select $1, s.key::pg_catalog.jsonb from (
      select distinct %2$s as key from %1$s h
      where h.held and h.started_at is null and h.finished_at is null and h.failed_at is null and not h.canceled
        and (select pg_catalog.count(*) from (select from %1$s b
          where %3$s and b.finished_at is null and b.failed_at is null and not b.canceled
            and (b.started_at is not null or $3 and h.execution_count = 0 and b.execution_count > 0) limit $2) taken) < $2) s
    where s.key is not null',
    tasks.quoted(p_type.table_id), tasks.key_of(p_type, 'h'), tasks.same_key(p_type, 'b', 'h'))
  using p_type.table_id, p_type.key_concurrency, p_type.key_on_retry = 'block';
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform tasks.announce(p_type.table_id);
  end if;
  return v_count;
end
$$;
comment on function tasks.admit_stranded(tasks.types) is 'Has acquire look again at every key that has held tasks and room; maintenance calls it';

create function tasks.let_go(p_table regclass) returns void
language plpgsql volatile
as $$
begin
  execute pg_catalog.format('update %1$s t set held = false where t.id = any (array(
    select h.id from %1$s h where h.held and h.finished_at is null and h.failed_at is null and not h.canceled
    order by h.id for no key update skip locked))', tasks.quoted(p_table));
end
$$;
comment on function tasks.let_go(regclass) is 'Nothing of a table is held back any longer, but for rows that an open transaction has locked';

create function tasks.limit_keys(
  schema_name text, table_name text, columns text[], concurrency integer default 1, on_retry text default 'block'
) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type    tasks.types := tasks.find_registered('limit_keys', $1, $2);
  v_old     tasks.types := v_type;
  v_schema  text := (select n.nspname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = v_type.table_id);
  v_columns text;
  v_ddl     text[] := '{}';
begin
  if $3 is not null then
    perform tasks.check_columns('limit_keys', v_type.table_id, $3, 'columns NULL: no keys.');
    if $4 is null or $4 < 1 then
      perform tasks.refuse('TQ003', pg_catalog.format('limit_keys: concurrency must be at least 1, not %s', coalesce($4::text, 'NULL')), 'columns NULL: no keys.');
    elsif $5 is null or $5 not in ('block', 'step_aside') then
      perform tasks.refuse('TQ003', pg_catalog.format('limit_keys: on_retry must be block or step_aside, not %s', coalesce($5, 'NULL')));
    end if;
  end if;
  v_type.key_columns := $3;
  v_type.key_concurrency := case when $3 is not null then $4 end;
  v_type.key_on_retry := case when $3 is not null then $5 end;
  if $3 is not null then
    v_columns := (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ' order by o) from pg_catalog.unnest($3) with ordinality u (c, o));
    -- Those that wait in their order; and those that take a place, so that a backlog isn't walked to find that none does. And the
    -- held ones as they are due, for whoever lists or counts them: spelt so that no search above takes it instead of the key's.
    v_ddl := array(
      select pg_catalog.format(i.source, tasks.index_name(i.kind, v_type, $3), tasks.quoted(v_type.table_id), v_columns)
      from (values
        ('key', 'create index %I on %s (%s, priority, planned_to, id) where finished_at is null and failed_at is null and not canceled'),
        ('taken', 'create index %I on %s (%s) where finished_at is null and failed_at is null and not canceled and (started_at is not null or execution_count > 0)'),
        ('held', 'create index %I on %s (planned_to, id) where held::pg_catalog.int4 = 1')
      ) i (kind, source)
      where case i.kind when 'held' then not exists (
          select from pg_catalog.pg_index x join pg_catalog.pg_class c on c.oid = x.indexrelid
          where x.indrelid = v_type.table_id and x.indisvalid and pg_catalog.starts_with(c.relname, 'pg_tasks_held_'))
        else tasks.indexed_columns(v_type.table_id, $3, pg_catalog.format('pg_tasks_%s_', i.kind), case i.kind when 'key' then 3 else 0 end) is distinct from $3 end);
  end if;
  -- Those of other columns, whatever they or the type were called then.
  v_ddl := array(
      select pg_catalog.format('drop index %I.%I', v_schema, c.relname)
      from pg_catalog.pg_index i
      join pg_catalog.pg_class c on c.oid = i.indexrelid
      cross join (values ('pg_tasks_key_', 3), ('pg_tasks_taken_', 0), ('pg_tasks_held_', null)) p (prefix, more)
      where i.indrelid = v_type.table_id and pg_catalog.starts_with(c.relname, p.prefix)
        and ($3 is null or p.more is not null and tasks.indexed_columns(v_type.table_id, $3, c.relname, p.more) is distinct from $3))
    || v_ddl;
  perform tasks.change_limits(v_old, v_ddl || array(select c.remedy from tasks.check_limit_triggers(v_type) c));
  if pg_catalog.cardinality(v_ddl) = 0 and (v_old.key_columns, v_old.key_concurrency, v_old.key_on_retry) is not distinct from (v_type.key_columns, v_type.key_concurrency, v_type.key_on_retry) then
    return;
  end if;
  update tasks.types y set key_columns = v_type.key_columns, key_concurrency = v_type.key_concurrency, key_on_retry = v_type.key_on_retry
  where y.table_id = v_type.table_id;
  -- Whatever the old keys held is judged anew.
  delete from tasks.freed_keys f where f.table_id = v_type.table_id;
  perform tasks.let_go(v_type.table_id);
  if $3 is not null then
    -- Whom an open transaction has locked, and who has room by the new settings.
    perform tasks.admit_stranded(v_type);
  end if;
  perform tasks.announce(v_type.table_id);
end
$$;
comment on function tasks.limit_keys(text, text, text[], integer, text) is
  'Tasks with equal values in these columns run in order, at most concurrency of them at once; a task that waits for its retry blocks its key or steps aside; columns NULL: no keys';

-- Where unregister takes the triggers away, nobody would let held tasks in again.
create function tasks.forget_limits() returns trigger
language plpgsql volatile
as $$
begin
  delete from tasks.rates r where r.table_id = old.table_id;
  delete from tasks.freed_keys f where f.table_id = old.table_id;
  if old.key_columns is not null and tasks.quoted(old.table_id) is not null then
    perform tasks.drop_indexes(old.table_id, '{pg_tasks_key_,pg_tasks_taken_,pg_tasks_held_}');
    perform tasks.let_go(old.table_id);
  end if;
  return null;
end
$$;
comment on function tasks.forget_limits() is 'Trigger: a type that is unregistered leaves nothing of its limits behind';
create trigger forget_limits after delete on tasks.types for each row execute function tasks.forget_limits();

commit;
