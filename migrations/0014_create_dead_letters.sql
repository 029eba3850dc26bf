-- 0014_create_dead_letters: failed tasks listed, reset by condition, and passed on to another task type.
--
-- Flow: a failed task stays in its table until it is reset or cleaned. With set_on_failure, a trigger enqueues a task of
-- another type in the same statement that fails the task, whoever fails it: retry, rescue or acquire.
-- Lock order: the failed task's row, then the new row of the other type; reset_failed takes rows in id order, skip locked.

begin isolation level read committed;
select tasks.start_migration(14, 'create_dead_letters');

alter table tasks.types add column on_failure regclass;
comment on column tasks.types.on_failure is 'Task table to which a task that fails for good is passed on; NULL: none';

create function tasks.enqueue_failure() returns trigger
language plpgsql volatile
as $$
declare
  v_target  regclass;
  v_row     jsonb;
  v_columns text;
begin
  select y.on_failure into v_target from tasks.types y where y.table_id = tg_relid::regclass;
  if v_target is null or tasks.quoted(v_target) is null then
    return null;
  end if;
  v_row := (pg_catalog.to_jsonb(new) - array(
      select a.attname::text from pg_catalog.pg_attribute a where a.attrelid = 'tasks.template'::regclass and a.attnum > 0))
    || pg_catalog.jsonb_build_object('failed_table', tasks.quoted(tg_relid::regclass), 'failed_id', new.id, 'failed_reason', new.failure_reason,
      'failed_error', new.last_error, 'trace_id', new.trace_id, 'traceparent', new.traceparent, 'priority', new.priority);
  select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by a.attnum) into v_columns
  from pg_catalog.pg_attribute a
  where a.attrelid = v_target and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and v_row ? a.attname::text;
  begin
    execute pg_catalog.format('insert into %s (%s) select %s from pg_catalog.jsonb_populate_record(null::%s, $1) r',
      tasks.quoted(v_target), v_columns, 'r.' || pg_catalog.replace(v_columns, ', ', ', r.'), tasks.quoted(v_target))
    using v_row;
  exception
    when transaction_rollback or insufficient_resources or operator_intervention then
      raise;
    when others then
      -- A task that can't be passed on has failed all the same, and must not stop its type.
      raise warning 'task % of % failed and could not be passed on to %: %', new.id, tg_relid::regclass, v_target, sqlerrm;
  end;
  return null;
end
$$;
comment on function tasks.enqueue_failure() is 'Trigger: passes a task that fails for good on to the type''s on_failure table';

create function tasks.set_on_failure(schema_name text, table_name text, target regclass) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type    tasks.types;
  v_missing text;
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  v_type := tasks.find_type($1, $2);
  if v_type.table_id is null then
    perform tasks.refuse('TQ004', pg_catalog.format('set_on_failure: %I.%I is not registered', $1, $2), 'Call tasks.register(schema, table).');
  elsif $3 is not null and not exists (select from tasks.types y where y.table_id = $3) then
    perform tasks.refuse('TQ004', pg_catalog.format('set_on_failure: the target %s is not registered', $3), 'Call tasks.register(schema, table) for it.');
  elsif $3 = v_type.table_id then
    perform tasks.refuse('TQ003', 'set_on_failure: a type can''t be its own target: its failures would go on for ever');
  end if;
  select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ') into v_missing
  from pg_catalog.pg_attribute a
  where a.attrelid = $3 and a.attnum > 0 and not a.attisdropped and a.attnotnull and not a.atthasdef and a.attidentity = '' and a.attgenerated = ''
    and a.attname not in ('failed_table', 'failed_id')
    and not exists (select from pg_catalog.pg_attribute s
      where s.attrelid = v_type.table_id and s.attname = a.attname and s.attnum > 0 and not s.attisdropped and s.attnotnull);
  if v_missing is not null then
    perform tasks.refuse('TQ005', pg_catalog.format('set_on_failure: %s needs a value for %s, which %s doesn''t have', $3, v_missing, v_type.table_id),
      'Give the column a default, allow NULL, or name it as in the failing table; failed_table, failed_id, failed_reason and failed_error are filled in.');
  end if;
  if $3 is not null and not exists (select from pg_catalog.pg_trigger t where t.tgrelid = v_type.table_id and t.tgname = 'pg_tasks_on_failure') then
    perform tasks.execute_ddl(v_type.table_id, array[pg_catalog.format(
      'create trigger pg_tasks_on_failure after update of failed_at on %s for each row when (old.failed_at is null and new.failed_at is not null) execute function tasks.enqueue_failure()',
      tasks.quoted(v_type.table_id))]);
  end if;
  update tasks.types y set on_failure = $3 where y.table_id = v_type.table_id;
end
$$;
comment on function tasks.set_on_failure(text, text, regclass) is
  'From now on a task that fails for good enqueues a task of the target type, with the columns that both have; NULL: no more';

create function tasks.failed_tasks(p_table regclass, p_limit integer default 100, p_before timestamptz default null)
returns table (id bigint, failed_at timestamptz, failure_reason text, execution_count integer, last_error text)
language plpgsql stable
as $$
begin
  return query execute pg_catalog.format(
    'select t.id::bigint, t.failed_at, t.failure_reason::text, t.execution_count, t.last_error::text from %s t
     where t.failed_at is not null and t.failed_at < coalesce($2, ''infinity'') and t.finished_at is null and not t.canceled
     order by t.failed_at desc limit $1', tasks.quoted(p_table))
  using p_limit, p_before;
end
$$;
comment on function tasks.failed_tasks(regclass, integer, timestamptz) is 'Failed tasks of a table, newest first; for the next page give the last failed_at as p_before';

create function tasks.reset_failed(p_table regclass, p_condition text default 'true', p_max_num bigint default null, p_preview boolean default false) returns bigint
language plpgsql volatile
as $$
declare
  v_type  tasks.types;
  v_ids   bigint[];
  v_id    bigint;
begin
  select y.* into v_type from tasks.types y where y.table_id = p_table;
  if not found then
    perform tasks.refuse('TQ004', pg_catalog.format('reset_failed: %s is not registered', p_table), 'Call tasks.register(schema, table).');
  elsif p_condition is null or p_max_num < 1 then
    perform tasks.refuse('TQ003', 'reset_failed: p_condition must not be NULL and p_max_num at least 1');
  end if;
  if p_preview then
    execute pg_catalog.format('select pg_catalog.array_agg(s.id) from (select t.id::bigint from %s t
      where t.failed_at is not null and t.finished_at is null and not t.canceled and (%s) order by t.id limit $1) s', tasks.quoted(p_table), p_condition)
    into v_ids using p_max_num;
    return coalesce(pg_catalog.cardinality(v_ids), 0);
  end if;
  execute pg_catalog.format('select pg_catalog.array_agg(s.id) from (select t.id::bigint from %s t
    where t.failed_at is not null and t.finished_at is null and not t.canceled and (%s) order by t.id limit $1 for no key update skip locked) s',
    tasks.quoted(p_table), p_condition)
  into v_ids using p_max_num;
  foreach v_id in array coalesce(v_ids, '{}') loop
    execute pg_catalog.format('select tasks.%I($1)', 'reset_' || v_type.function_name) using v_id;
  end loop;
  return coalesce(pg_catalog.cardinality(v_ids), 0);
end
$$;
comment on function tasks.reset_failed(regclass, text, bigint, boolean) is
  'Resets the failed tasks that meet a condition on the table''s columns (alias t), at most p_max_num; with p_preview only counts them';

commit;
