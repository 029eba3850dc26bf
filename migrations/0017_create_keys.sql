-- 0017_create_keys: order and concurrency per key, on the user's own columns.
--
-- Flow: a type's key is the values of some of its columns. Acquire passes what it picked to admit, which lets a task through
-- while its key has room and holds it back otherwise. A held task leaves the ready index, so ten thousand of them in front
-- cost nothing. When a task of a key ends, the first held one of the key is let in again, in the transaction that ends it.
-- The race of "held just when the key became free" is closed by a lock per key: who ends a task takes it until commit; who is
-- about to hold one back only if it is free, and then looks again.
-- Lock order: the type's limit lock, then key locks (tried, never waited for); at an end: the ended rows, then key locks in
-- order, then the next held rows (skip locked).

begin isolation level read committed;
select tasks.start_migration(17, 'create_keys');

-- The key as one text: values as JSON, so that no value can imitate another; NULL in any column: no key, no limit.
create function tasks.key_of(p_type tasks.types, p_alias text) returns text
language sql immutable
as $$
  select pg_catalog.format('case when %s then pg_catalog.jsonb_build_array(%s)::text end',
    pg_catalog.string_agg(pg_catalog.format('%s.%I is not null', p_alias, c), ' and '), pg_catalog.string_agg(pg_catalog.format('%s.%I', p_alias, c), ', '))
  from pg_catalog.unnest(p_type.key_columns) c
$$;
comment on function tasks.key_of(tasks.types, text) is 'SQL expression of a type''s key for a row of the given alias';

create function tasks.same_key(p_type tasks.types, p_left text, p_right text) returns text
language sql immutable
as $$
  select pg_catalog.string_agg(pg_catalog.format('%s.%I = %s.%I', p_left, c, p_right, c), ' and ') from pg_catalog.unnest(p_type.key_columns) c
$$;
comment on function tasks.same_key(tasks.types, text, text) is 'SQL condition that two rows have the same key, by the columns, so that an index serves';

create function tasks.key_lock(p_table regclass, p_key text) returns integer
language sql immutable
as $$
  select pg_catalog.hashtextextended(p_key, p_table::oid::bigint)::bit(64)::bit(32)::integer
$$;
comment on function tasks.key_lock(regclass, text) is 'Second key of the advisory lock (class 1886415986) of a key';

-- One look at all picked tasks. A place of a key is taken by a running task and, where a retry blocks its key, by one that
-- waits for its retry; such a one goes before the others of its key. Nobody passes a held task that comes earlier.
create function tasks.judge(p_type tasks.types, p_ids bigint[]) returns table (task_id bigint, key text, admitted boolean)
language plpgsql volatile
set enable_seqscan to off
as $$
begin
  return query execute pg_catalog.format($query$
    select s.id, s.key, s.key is null or s.busy + s.place <= $2 and not s.behind
    from (
      select t.id::bigint as id, %3$s as key,
        pg_catalog.row_number() over (partition by %3$s order by $3 and t.execution_count > 0 desc, u.place) as place,
        (select pg_catalog.count(*) from (
          select from %1$s b
          where %2$s and b.finished_at is null and b.failed_at is null and not b.canceled and b.id <> all ($1)
            and (b.started_at is not null or $3 and b.execution_count > 0)
          limit $2) taken) as busy,
        exists (
          select from %1$s b
          where %2$s and b.finished_at is null and b.failed_at is null and not b.canceled and b.held and b.started_at is null
            and not ($3 and t.execution_count > 0 and b.execution_count = 0)
            and (b.priority, b.planned_to, b.id) < (t.priority, t.planned_to, t.id)) as behind,
        u.place as picked
      from pg_catalog.unnest($1) with ordinality u (id, place)
      join %1$s t on t.id = u.id
    ) s
    order by s.picked
  $query$, tasks.quoted(p_type.table_id), tasks.same_key(p_type, 'b', 't'), tasks.key_of(p_type, 't'))
  using p_ids, p_type.key_concurrency, p_type.key_on_retry = 'block';
end
$$;
comment on function tasks.judge(tasks.types, bigint[]) is 'Which of some picked tasks their keys let through now';

create function tasks.admit(p_type tasks.types, p_ids bigint[]) returns bigint[]
language plpgsql volatile
as $$
declare
  v_admitted bigint[];
  v_blocked  text[];
  v_locked   text[] := '{}';
  v_key      text;
begin
  select pg_catalog.array_agg(j.task_id) filter (where j.admitted), pg_catalog.array_agg(distinct j.key) filter (where not j.admitted)
  into v_admitted, v_blocked
  from tasks.judge(p_type, p_ids) j;
  -- Where the lock is taken, somebody is just ending a task of the key: its others are neither claimed nor held this time.
  foreach v_key in array coalesce(v_blocked, '{}') loop
    if pg_catalog.pg_try_advisory_xact_lock(1886415986, tasks.key_lock(p_type.table_id, v_key)) then
      v_locked := v_locked || v_key;
    end if;
  end loop;
  if pg_catalog.cardinality(v_locked) > 0 then
    -- With the lock, look again: what ended meanwhile let nobody in, for nobody was held.
    execute pg_catalog.format('update %s t set held = true where t.id = any ($1)', tasks.quoted(p_type.table_id))
    using array(select j.task_id from tasks.judge(p_type, p_ids) j
      where not j.admitted and j.key = any (v_locked) and j.task_id <> all (coalesce(v_admitted, '{}')));
  end if;
  return coalesce(v_admitted, '{}');
end
$$;
comment on function tasks.admit(tasks.types, bigint[]) is 'Of picked tasks, those whose key has room, in order; the others are held back';

create function tasks.admit_next(p_type tasks.types, p_keys text[]) returns void
language plpgsql volatile
set enable_seqscan to off
as $$
declare
  v_key text;
begin
  foreach v_key in array coalesce(p_keys, '{}') loop
    perform pg_catalog.pg_advisory_xact_lock(1886415986, tasks.key_lock(p_type.table_id, v_key));
    execute pg_catalog.format('update %1$s t set held = false, planned_to = t.planned_to where t.id in (
        select h.id from %1$s h
        where h.held and h.finished_at is null and h.failed_at is null and not h.canceled and h.started_at is null and %2$s
        order by h.priority, h.planned_to, h.id limit $2 for no key update skip locked)',
      tasks.quoted(p_type.table_id), tasks.key_is(p_type, 'h'))
    using v_key::jsonb, p_type.key_concurrency;
  end loop;
end
$$;
comment on function tasks.admit_next(tasks.types, text[]) is 'Lets the first held tasks of keys in again; their acquire decides anew';

create function tasks.key_is(p_type tasks.types, p_alias text) returns text
language sql stable
as $$
  select pg_catalog.string_agg(pg_catalog.format('%s.%I = (pg_catalog.jsonb_populate_record(null::%s, pg_catalog.jsonb_build_object(%L, $1 -> %s))).%I',
    p_alias, c, tasks.quoted(p_type.table_id), c, o - 1, c), ' and ' order by o)
  from pg_catalog.unnest(p_type.key_columns) with ordinality u (c, o)
$$;
comment on function tasks.key_is(tasks.types, text) is 'SQL condition that a row has the key given as $1, by the columns, so that an index serves';

-- Behind the locks stands this: keys that are free although tasks of theirs are held.
create function tasks.admit_stranded(p_type tasks.types) returns bigint
language plpgsql volatile
set enable_seqscan to off
as $$
declare
  v_first bigint[];
  v_count bigint;
begin
  execute pg_catalog.format('select pg_catalog.array_agg(f.id) from (
      select distinct on (%2$s) h.id::bigint as id from %1$s h
      where h.held and h.started_at is null and h.finished_at is null and h.failed_at is null and not h.canceled
      order by %2$s, h.priority, h.planned_to, h.id) f',
    tasks.quoted(p_type.table_id), (select pg_catalog.string_agg(pg_catalog.format('h.%I', c), ', ') from pg_catalog.unnest(p_type.key_columns) c))
  into v_first;
  execute pg_catalog.format('update %s t set held = false, planned_to = t.planned_to where t.id = any ($1) and t.held', tasks.quoted(p_type.table_id))
  using array(select j.task_id from tasks.judge(p_type, coalesce(v_first, '{}')) j where j.admitted);
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tasks.admit_stranded(tasks.types) is 'Lets in the first held task of every key that nobody runs; maintenance calls it';

create function tasks.limit_keys(
  schema_name text, table_name text, columns text[], concurrency integer default 1, on_retry text default 'block'
) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type    tasks.types := tasks.find_registered('limit_keys', $1, $2);
  v_unknown text;
  v_columns text;
  v_suffix  text;
  v_indexes text[] := '{}';
begin
  if $3 is not null then
    select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ') into v_unknown from pg_catalog.unnest($3) c
    where not exists (select from pg_catalog.pg_attribute a where a.attrelid = v_type.table_id and a.attname = c and a.attnum > 0 and not a.attisdropped);
    if v_unknown is not null or pg_catalog.cardinality($3) = 0 then
      perform tasks.refuse('TQ003', pg_catalog.format('limit_keys: %s has no column %s', v_type.table_id, coalesce(v_unknown, '')), 'columns NULL: no keys.');
    elsif $4 is null or $4 < 1 then
      perform tasks.refuse('TQ003', pg_catalog.format('limit_keys: concurrency must be at least 1, not %s', coalesce($4::text, 'NULL')));
    elsif $5 is null or $5 not in ('block', 'step_aside') then
      perform tasks.refuse('TQ003', pg_catalog.format('limit_keys: on_retry must be block or step_aside, not %L', $5));
    end if;
  end if;
  -- Decisions that are under way end first.
  perform pg_catalog.pg_advisory_xact_lock(1886415985, v_type.table_id::oid::integer);
  v_type.key_columns := $3;
  v_type.key_concurrency := case when $3 is not null then $4 end;
  v_type.key_on_retry := case when $3 is not null then $5 end;
  if $3 is not null then
    v_columns := (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ' order by o) from pg_catalog.unnest($3) with ordinality u (c, o));
    v_suffix := '_' || pg_catalog.substr(pg_catalog.md5($3::text), 1, 7);
    -- Those that wait in their order; and those that take a place, so that a backlog isn't walked to find that none does.
    v_indexes := array[
      pg_catalog.format('create index if not exists %I on %s (%s, priority, planned_to, id) where finished_at is null and failed_at is null and not canceled',
        pg_catalog.left('pg_tasks_key_' || v_type.function_name || '_' || pg_catalog.array_to_string($3, '_'), 55) || v_suffix, tasks.quoted(v_type.table_id), v_columns),
      pg_catalog.format('create index if not exists %I on %s (%s) where finished_at is null and failed_at is null and not canceled and (started_at is not null or execution_count > 0)',
        pg_catalog.left('pg_tasks_taken_' || v_type.function_name || '_' || pg_catalog.array_to_string($3, '_'), 55) || v_suffix, tasks.quoted(v_type.table_id), v_columns)];
  end if;
  perform tasks.execute_ddl(v_type.table_id, v_indexes || array(select c.remedy from tasks.check_limit_triggers(v_type) c));
  update tasks.types y set key_columns = v_type.key_columns, key_concurrency = v_type.key_concurrency, key_on_retry = v_type.key_on_retry
  where y.table_id = v_type.table_id;
  -- Whatever other keys held is judged anew.
  execute pg_catalog.format('update %s t set held = false, planned_to = t.planned_to where t.held', tasks.quoted(v_type.table_id));
end
$$;
comment on function tasks.limit_keys(text, text, text[], integer, text) is
  'Tasks with equal values in these columns run in order, at most concurrency of them at once; a task that waits for its retry blocks its key or steps aside; columns NULL: no keys';

commit;
