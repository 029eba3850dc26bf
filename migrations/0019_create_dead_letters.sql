-- 0019_create_dead_letters: failed tasks listed, reset by condition, and passed on to another task type.
--
-- Flow: a failed task stays in its table until it is reset or cleaned. With set_on_failure, a trigger enqueues a task of
-- another type in the same statement that fails the task, whoever fails it: retry, rescue, acquire or an update.
-- Lock order: the failed task's row, then the new row of the other type; reset_failed takes rows in id order, skip locked.

begin isolation level read committed;
select tasks.start_migration(19, 'create_dead_letters');

alter table tasks.types add column on_failure regclass;
comment on column tasks.types.on_failure is 'Task table to which a task that fails for good is passed on; NULL: none';

-- Columns of the same name, as they are and not through JSON; where the types differ, by the cast that there is.
create function tasks.failure_insert(p_table regclass, p_target regclass, p_row text) returns text
language sql stable
as $$
  select pg_catalog.format('insert into %s (%s) select %s', tasks.quoted(p_target),
    pg_catalog.string_agg(pg_catalog.quote_ident(c.attname), ', ' order by c.attnum),
    pg_catalog.string_agg(c.value, ', ' order by c.attnum))
  from (
    select t.attname, t.attnum,
      case t.attname
        when 'failed_table' then pg_catalog.quote_literal(tasks.quoted(p_table)) || '::pg_catalog.text'
        when 'failed_id' then pg_catalog.format('(%s).id', p_row)
        when 'failed_reason' then pg_catalog.format('coalesce((%s).failure_reason, ''error'')', p_row)
        when 'failed_error' then pg_catalog.format('(%s).last_error', p_row)
        else '(' || p_row || ').' || pg_catalog.quote_ident(s.attname)
          || case when s.atttypid <> t.atttypid then '::' || pg_catalog.format_type(t.atttypid, null) else '' end
      end as value
    from pg_catalog.pg_attribute t
    left join pg_catalog.pg_attribute s on s.attrelid = p_table and s.attname = t.attname and s.attnum > 0 and not s.attisdropped
    where t.attrelid = p_target and t.attnum > 0 and not t.attisdropped and t.attgenerated = '' and t.attidentity = ''
      and (t.attname in ('priority', 'trace_id', 'traceparent') or not exists (
        select from pg_catalog.pg_attribute o where o.attrelid = 'tasks.template'::regclass and o.attname = t.attname and o.attnum > 0))
  ) c
  where c.value is not null
$$;
comment on function tasks.failure_insert(regclass, regclass, text) is
  'INSERT that passes a failed row (an expression) on to a target: the columns that both have, and failed_table, failed_id, failed_reason, failed_error';

create function tasks.enqueue_failure() returns trigger
language plpgsql volatile
as $$
declare
  v_target regclass;
begin
  begin
    select y.on_failure into v_target from tasks.types y where y.table_id = tg_relid::regclass;
    if v_target is null then
      return null;
    elsif tasks.quoted(v_target) is null then
      raise exception 'the table is gone';
    end if;
    execute tasks.failure_insert(tg_relid::regclass, v_target, '$1') using new;
    perform tasks.check_deferred(v_target);
  exception
    when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
      raise;
    when others then
      -- A task that can't be passed on has failed all the same, and must not stop its type.
      raise warning 'task % of % failed and could not be passed on to %: %', new.id, tg_relid::regclass, v_target, sqlerrm;
  end;
  return null;
end
$$;
comment on function tasks.enqueue_failure() is 'Trigger: passes a task that fails for good on to the type''s on_failure table';

create function tasks.grant_on_failure(p_table regclass) returns void
language plpgsql volatile
as $$
declare
  v_type tasks.types;
  v_role text;
  v_grant text;
begin
  select y.* into v_type from tasks.types y where y.table_id = p_table and y.on_failure is not null and tasks.quoted(y.on_failure) is not null;
  if not found then
    return;
  end if;
  for v_role in
    select pg_catalog.unnest(tasks.grantees(v_type.function_name, 'worker')) union select pg_catalog.unnest(tasks.grantees(v_type.function_name, 'operator'))
  loop
    for v_grant in
      select pg_catalog.format('usage on schema %I', n.nspname)
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = v_type.on_failure
      union all
      select 'insert on ' || tasks.quoted(v_type.on_failure)
      union all
      select 'usage on sequence ' || pg_catalog.pg_get_serial_sequence(tasks.quoted(v_type.on_failure), 'id')
      from pg_catalog.pg_attribute a
      where a.attrelid = v_type.on_failure and a.attname = 'id' and a.attidentity = ''
        and pg_catalog.pg_get_serial_sequence(tasks.quoted(v_type.on_failure), 'id') is not null
    loop
      execute pg_catalog.format('grant %s to %s', v_grant, v_role);
    end loop;
  end loop;
end
$$;
comment on function tasks.grant_on_failure(regclass) is 'Grants INSERT on a type''s on_failure table to the workers and operators of the type';

create function tasks.set_on_failure(schema_name text, table_name text, target regclass) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type    tasks.types;
  v_next    regclass := $3;
  v_chain   regclass[] := '{}';
  v_missing text;
  v_trigger boolean;
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  v_type := tasks.find_type($1, $2);
  if v_type.table_id is null or tasks.quoted(v_type.table_id) is null then
    perform tasks.refuse('TQ004', pg_catalog.format('set_on_failure: %s.%s is not registered', coalesce(pg_catalog.quote_ident($1), 'NULL'), coalesce(pg_catalog.quote_ident($2), 'NULL')),
      'Call tasks.register(schema, table).');
  elsif $3 is not null and not exists (select from tasks.types y where y.table_id = $3) then
    perform tasks.refuse('TQ004', pg_catalog.format('set_on_failure: the target %s is not registered', coalesce(tasks.quoted($3), $3::text)),
      'Call tasks.register(schema, table) for it.');
  end if;
  while v_next is not null and v_next <> all (v_chain) loop
    if v_next = v_type.table_id then
      perform tasks.refuse('TQ003', pg_catalog.format('set_on_failure: failures of %s would come back to it', tasks.quoted(v_type.table_id)),
        case when $3 = v_type.table_id then 'Take another type as target.'
          else 'By way of ' || (select pg_catalog.string_agg(tasks.quoted(c), ', ') from pg_catalog.unnest(v_chain) c) || '.' end);
    end if;
    v_chain := v_chain || v_next;
    v_next := (select y.on_failure from tasks.types y where y.table_id = v_next);
  end loop;

  if $3 is not null then
    select pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' order by a.attnum) into v_missing
    from pg_catalog.pg_attribute a join pg_catalog.pg_type d on d.oid = a.atttypid
    where a.attrelid = $3 and a.attnum > 0 and not a.attisdropped and (a.attnotnull or d.typnotnull)
      and not a.atthasdef and d.typdefault is null and a.attidentity = '' and a.attgenerated = ''
      and a.attname not in ('failed_table', 'failed_id', 'failed_reason')
      and (a.attname = 'failed_error' or not exists (
        select from pg_catalog.pg_attribute s join pg_catalog.pg_type o on o.oid = s.atttypid
        where s.attrelid = v_type.table_id and s.attname = a.attname and s.attnum > 0 and not s.attisdropped and (s.attnotnull or o.typnotnull)));
    if v_missing is not null then
      perform tasks.refuse('TQ005', pg_catalog.format('set_on_failure: %s must not be NULL in %s, and a failed task of %s may have no value for it',
          v_missing, tasks.quoted($3), tasks.quoted(v_type.table_id)),
        'Allow NULL, give a default, or make the failing table''s column of that name NOT NULL. failed_table, failed_id and failed_reason are always filled in, failed_error when there is a text.');
    end if;
    begin
      -- Planned and not run: shows types that don't go together.
      execute 'explain ' || tasks.failure_insert(v_type.table_id, $3, 'null::' || tasks.quoted(v_type.table_id));
    exception
      when datatype_mismatch or cannot_coerce or undefined_function then
        perform tasks.refuse('TQ005', pg_catalog.format('set_on_failure: a task of %s can''t be passed on to %s: %s',
          tasks.quoted(v_type.table_id), tasks.quoted($3), sqlerrm), 'Columns of the same name need types that go together, or another name.');
    end;
  end if;

  v_trigger := exists (select from pg_catalog.pg_trigger t where t.tgrelid = v_type.table_id and t.tgname = 'pg_tasks_on_failure');
  if $3 is not null and not v_trigger then
    perform tasks.execute_ddl(v_type.table_id, array[pg_catalog.format(
      'create trigger pg_tasks_on_failure after update of failed_at on %s for each row when (old.failed_at is null and new.failed_at is not null) execute function tasks.enqueue_failure()',
      tasks.quoted(v_type.table_id))]);
  elsif $3 is null and v_trigger then
    perform tasks.execute_ddl(v_type.table_id, array[pg_catalog.format('drop trigger pg_tasks_on_failure on %s', tasks.quoted(v_type.table_id))]);
  end if;
  update tasks.types y set on_failure = $3 where y.table_id = v_type.table_id and y.on_failure is distinct from $3;
  perform tasks.grant_on_failure(v_type.table_id);
end
$$;
comment on function tasks.set_on_failure(text, text, regclass) is
  'From now on a task that fails for good enqueues a task of the target type, with the columns that both have; NULL: no more';

-- Tasks that one rescue failed may have the same failed_at: a page ends at a time and an id.
create function tasks.failed_tasks(p_table regclass, p_limit integer default 100, p_before timestamptz default null, p_before_id bigint default null)
returns table (id bigint, failed_at timestamptz, failure_reason text, execution_count integer, last_error text)
language plpgsql stable
as $$
begin
  if tasks.quoted(p_table) is null then
    perform tasks.refuse('TQ003', 'failed_tasks: p_table must be a task table');
  elsif p_limit is null or p_limit < 1 then
    perform tasks.refuse('TQ003', 'failed_tasks: p_limit must be at least 1');
  end if;
  return query execute pg_catalog.format(
    'select t.id::bigint, t.failed_at, t.failure_reason::text, t.execution_count, t.last_error::text from %s t
     where t.failed_at is not null and t.finished_at is null and not t.canceled
       and t.failed_at <= $2 and (t.failed_at, t.id) < ($2, $3)
     order by t.failed_at desc, t.id desc limit $1', tasks.quoted(p_table))
  using p_limit, coalesce(p_before, 'infinity'), coalesce(p_before_id, -9223372036854775808);
end
$$;
comment on function tasks.failed_tasks(regclass, integer, timestamptz, bigint) is
  'Failed tasks of a table, newest first; for the next page give failed_at and id of the last one';

create function tasks.reset_failed(p_table regclass, p_condition text default 'true', p_max_num bigint default null, p_preview boolean default false) returns bigint
language plpgsql volatile
as $$
declare
  v_type  tasks.types;
  v_from  text;
  v_ids   bigint[];
  v_id    bigint;
  v_count bigint;
begin
  select y.* into v_type from tasks.types y where y.table_id = p_table and tasks.quoted(y.table_id) is not null;
  if not found then
    perform tasks.refuse('TQ004', pg_catalog.format('reset_failed: %s is not registered', coalesce(tasks.quoted(p_table), p_table::text, 'NULL')),
      'Call tasks.register(schema, table).');
  elsif p_condition is null or p_max_num < 1 then
    perform tasks.refuse('TQ003', 'reset_failed: p_condition must not be NULL and p_max_num at least 1');
  end if;
  -- The candidates from the index of failed tasks first: ordered by id at once, a large table would be walked by its key.
  v_from := pg_catalog.format('from %s t where t.failed_at is not null and t.finished_at is null and not t.canceled and (%s
)', tasks.quoted(p_table), p_condition);
  if p_preview then
    execute pg_catalog.format('select pg_catalog.count(*) from (select %s limit $1) s', v_from) into v_count using p_max_num;
    return v_count;
  end if;
  execute pg_catalog.format(
    'with candidates as materialized (select t.id %s)
     select pg_catalog.array_agg(s.id) from (
       select t.id from %s t
       where t.id = any (array(select c.id from candidates c)) and t.failed_at is not null and t.finished_at is null and not t.canceled
       order by t.id limit $1 for no key update skip locked) s', v_from, tasks.quoted(p_table))
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
