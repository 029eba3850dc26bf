-- 0023_create_unique: unique tasks, on the user's own columns.
--
-- Flow: unique_while makes a partial unique index over some columns and states; enqueue inserts rows given as JSON and says
-- per row what happened when one met its like: ignored, its payload replaced, moved later, or moved earlier.
-- A task that comes back (retry, release, rescue, reset) and meets a follow-up that was enqueued meanwhile is absorbed by it:
-- canceled, with a comment that names it. Nothing raises for that: a BEFORE UPDATE trigger, there only on tables with such an
-- index, looks before the index would; and where the follow-up was not committed yet, so that only the index saw it, retry,
-- release and reset look again (0007), and so does the next rescue.
-- Lock order: the new row, then the row that it meets.

begin isolation level read committed;
select tasks.start_migration(23, 'create_unique');

create table tasks.unique_rules (
  table_id   regclass primary key,
  columns    text[] not null,
  running    boolean not null,
  index_name text not null
);
comment on table tasks.unique_rules is 'Which tasks of a type are unique; written by unique_while';
comment on column tasks.unique_rules.table_id is 'The task table';
comment on column tasks.unique_rules.columns is 'Columns that make two tasks alike';
comment on column tasks.unique_rules.running is 'Whether a running task counts too; else it may have one follow-up';
comment on column tasks.unique_rules.index_name is 'The unique index';

create function tasks.unique_predicate(p_running boolean, p_alias text default '') returns text
language sql immutable
as $$
  select pg_catalog.format('%1$sfinished_at is null and %1$sfailed_at is null and not %1$scanceled%2$s', p_alias,
    case when p_running then '' else ' and ' || p_alias || 'started_at is null' end)
$$;
comment on function tasks.unique_predicate(boolean, text) is 'Predicate of the unique index';

create function tasks.is_unique(p_table regclass) returns boolean
language plpgsql stable
as $$
begin
  return exists (select from tasks.unique_rules u where u.table_id = p_table);
end
$$;
comment on function tasks.is_unique(regclass) is 'Whether a type''s tasks are unique, so that one that comes back may meet its like';

create function tasks.unique_rule(p_table regclass) returns tasks.unique_rules
language plpgsql stable
as $$
declare
  v_rule tasks.unique_rules;
begin
  select u.* into v_rule from tasks.unique_rules u where u.table_id = p_table;
  v_rule.columns := tasks.indexed_columns(p_table, v_rule.columns, v_rule.index_name);
  return v_rule;
end
$$;
comment on function tasks.unique_rule(regclass) is
  'Rule of a type with the names that its columns bear now; columns NULL: its index is gone; all NULL: there is no rule';

create function tasks.absorb_follower() returns trigger
language plpgsql volatile
as $$
declare
  v_rule tasks.unique_rules;
  v_id   bigint;
begin
  v_rule := tasks.unique_rule(tg_relid::regclass);
  if v_rule.columns is null then
    return new;
  end if;
  execute pg_catalog.format('select t.id from %s t where %s and t.id <> $1.id and %s limit 1',
    tasks.quoted(v_rule.table_id),
    (select pg_catalog.string_agg(pg_catalog.format('t.%I %s $1.%1$I', c, tasks.equals(v_rule.table_id, c)), ' and ') from pg_catalog.unnest(v_rule.columns) c),
    tasks.unique_predicate(v_rule.running, 't.'))
  into v_id using new;
  if v_id is null then
    return new;
  end if;
  new.canceled := true;
  new.canceled_at := tasks.clock();
  new.comment := pg_catalog.concat('absorbed by task ', v_id);
  new.run_token := null;
  new.run_worker := null;
  new.run_until := null;
  return new;
end
$$;
comment on function tasks.absorb_follower() is 'Trigger: a task that comes back and meets its follow-up is canceled in its favour';

create function tasks.unique_while(schema_name text, table_name text, columns text[], states text[] default '{scheduled,ready}') returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type    tasks.types := tasks.find_registered('unique_while', $1, $2);
  v_old     tasks.unique_rules;
  v_running boolean := 'running' = any ($4);
  v_index   text;
begin
  select u.* into v_old from tasks.unique_rules u where u.table_id = v_type.table_id;
  if $3 is null then
    perform tasks.execute_ddl(v_type.table_id, array(
      select s from (values
        (pg_catalog.format('drop index if exists %I.%I', (select n.nspname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = v_type.table_id), v_old.index_name)),
        (pg_catalog.format('drop trigger if exists pg_tasks_absorb on %s', tasks.quoted(v_type.table_id)))) v (s)
      where v_old.table_id is not null));
    delete from tasks.unique_rules u where u.table_id = v_type.table_id;
    return;
  end if;
  perform tasks.check_columns('unique_while', v_type.table_id, $3, 'columns NULL: no longer unique.');
  if $4 is null or not ('{scheduled,ready}' <@ $4 and $4 <@ '{scheduled,ready,running}') then
    perform tasks.refuse('TQ003', 'unique_while: states must be {scheduled,ready} or {scheduled,ready,running}',
      'With running, a running task has no follow-up; without, it may have one.');
  end if;
  if (tasks.unique_rule(v_type.table_id)).columns = $3 and v_old.running = v_running then
    -- Perhaps they were called otherwise.
    update tasks.unique_rules u set columns = $3 where u.table_id = v_type.table_id and u.columns <> $3;
    return;
  end if;
  if v_old.table_id is not null then
    perform tasks.unique_while($1, $2, null);
  end if;
  v_index := tasks.index_name(case when v_running then 'single' else 'unique' end, v_type, $3);
  perform tasks.execute_ddl(v_type.table_id, array[
    pg_catalog.format('create unique index %I on %s (%s) where %s', v_index, tasks.quoted(v_type.table_id),
      (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ' order by o) from pg_catalog.unnest($3) with ordinality u (c, o)), tasks.unique_predicate(v_running)),
    pg_catalog.format('create trigger pg_tasks_absorb before update on %s for each row
      when (new.started_at is null and new.finished_at is null and new.failed_at is null and not new.canceled
        and (old.started_at is not null or old.finished_at is not null or old.failed_at is not null or old.canceled))
      execute function tasks.absorb_follower()', tasks.quoted(v_type.table_id))]);
  insert into tasks.unique_rules (table_id, columns, running, index_name) values (v_type.table_id, $3, v_running, v_index);
end
$$;
comment on function tasks.unique_while(text, text, text[], text[]) is
  'At most one waiting task (with running: one unfinished task) with equal values in these columns; NULL columns: no longer. NULL values are never alike';

create function tasks.enqueue(p_table regclass, p_rows jsonb, p_on_conflict text default null, p_delay interval default null)
returns table (place bigint, id bigint, outcome text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_rule    tasks.unique_rules;
  v_row     jsonb;
  v_place   bigint;
  v_columns text[];
  v_amiss   text;
  v_table   text := tasks.quoted(p_table);
  v_names   text;
  v_values  text;
  v_from    text;
  v_set     text;
  v_id      bigint;
  v_new     boolean;
begin
  if v_table is null then
    perform tasks.refuse('TQ003', 'enqueue: p_table must be a table that is there, not NULL');
  elsif pg_catalog.jsonb_typeof(p_rows) is distinct from 'array'
    or exists (select from pg_catalog.jsonb_array_elements(p_rows) r (value) where pg_catalog.jsonb_typeof(r.value) <> 'object')
  then
    perform tasks.refuse('TQ003', 'enqueue: p_rows must be a JSON array of objects');
  elsif p_on_conflict not in ('ignore', 'replace', 'postpone', 'advance') then
    perform tasks.refuse('TQ003', pg_catalog.format('enqueue: p_on_conflict must be ignore, replace, postpone or advance, not %L', p_on_conflict));
  end if;
  perform tasks.check_interval('enqueue: p_delay', p_delay);
  v_rule := tasks.unique_rule(p_table);
  if p_on_conflict is not null and v_rule.table_id is null then
    perform tasks.refuse('TQ003', pg_catalog.format('enqueue: p_on_conflict needs unique tasks, and those of %s are not', v_table), 'Call tasks.unique_while(schema, table, columns).');
  elsif p_on_conflict is not null and v_rule.columns is null then
    perform tasks.refuse('TQ003', pg_catalog.format('enqueue: p_on_conflict needs unique tasks, and the index that made those of %s unique is gone', v_table),
      'It was dropped, or a column of it. Call tasks.unique_while(schema, table, columns) again.');
  end if;
  -- In one order for all callers: two bulks with the same keys don't deadlock.
  for v_row, v_place in select r.value, r.place from pg_catalog.jsonb_array_elements(p_rows) with ordinality r (value, place)
    order by case when p_on_conflict is not null then (select pg_catalog.string_agg(r.value ->> c, E'\x01') from pg_catalog.unnest(v_rule.columns) c) end, r.place
  loop
    v_columns := array(select k from pg_catalog.jsonb_object_keys(v_row) k where k <> 'planned_to' or p_delay is null order by k);
    select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ') into v_amiss from pg_catalog.unnest(v_columns) c
    where not exists (select from pg_catalog.pg_attribute a where a.attrelid = p_table and a.attname = c and a.attnum > 0 and not a.attisdropped);
    if v_amiss is not null then
      raise undefined_column using message = pg_catalog.format('enqueue: %s has no column %s', v_table, v_amiss);
    end if;
    v_names := (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ' order by o) from pg_catalog.unnest(v_columns) with ordinality u (c, o));
    v_values := (select pg_catalog.string_agg('r.' || pg_catalog.quote_ident(c), ', ' order by o) from pg_catalog.unnest(v_columns) with ordinality u (c, o));
    v_from := pg_catalog.format(' from pg_catalog.jsonb_to_record($1) r (%s)', tasks.record_of(p_table, v_columns));
    v_set := case p_on_conflict
      -- Not excluded...., for which a producer would need SELECT on the payload; the unique columns are equal.
      when 'replace' then (
        select pg_catalog.string_agg(a.assignment, ', ') from (
          select pg_catalog.format('%I = (select r.%1$I%s)', c, v_from)
          from pg_catalog.unnest(v_columns) c where c <> all (v_rule.columns)
          union all select 'planned_to = excluded.planned_to' where p_delay is not null
          union all select 'planned_to = t.planned_to' where p_delay is null and v_columns <@ v_rule.columns) a (assignment))
      when 'postpone' then 'planned_to = greatest(t.planned_to, excluded.planned_to)'
      when 'advance' then 'planned_to = least(t.planned_to, excluded.planned_to)' end;
    v_id := null;
    v_new := null;
    for v_try in 1..10 loop
      execute pg_catalog.format('insert into %s as t (%s) select %s%s %s returning t.id, t.xmax = 0',
        v_table,
        pg_catalog.concat_ws(', ', v_names, case when v_names is null or p_delay is not null then 'planned_to' end),
        pg_catalog.concat_ws(', ', v_values, case when v_names is null or p_delay is not null then 'tasks.clock() + coalesce(tasks.elapsed($2), interval ''0'')' end),
        case when v_names is not null then v_from end,
        case when p_on_conflict is not null then pg_catalog.format('on conflict (%s) where %s %s',
          (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ' order by o) from pg_catalog.unnest(v_rule.columns) with ordinality u (c, o)),
          tasks.unique_predicate(v_rule.running),
          case p_on_conflict when 'ignore' then 'do nothing' else 'do update set ' || v_set end) end)
      into v_id, v_new using v_row, p_delay;
      exit when v_id is not null or p_on_conflict is distinct from 'ignore';
      -- Ignored in favour of one that is there; unless it has just left, and then it is our turn. Which one can't be told where a
      -- column is computed, left to its default or changed by a trigger, where row security hides it, and where a trigger
      -- swallowed the new one.
      if v_rule.columns <@ v_columns then
        execute pg_catalog.format('select t.id from %s t, pg_catalog.jsonb_to_record($1) r (%s) where %s and %s limit 1', v_table,
          tasks.record_of(p_table, v_rule.columns),
          (select pg_catalog.string_agg(pg_catalog.format('t.%I %s r.%1$I', c, tasks.equals(p_table, c)), ' and ') from pg_catalog.unnest(v_rule.columns) c),
          tasks.unique_predicate(v_rule.running))
        into v_id using v_row;
      end if;
      v_new := false;
      exit when v_id is not null;
    end loop;
    place := v_place;
    id := v_id;
    outcome := case when v_new then 'enqueued' when v_id is null and p_on_conflict is distinct from 'ignore' then 'not_taken' else case p_on_conflict
      when 'ignore' then 'ignored' when 'replace' then 'replaced' when 'postpone' then 'postponed' else 'advanced' end end;
    return next;
  end loop;
end
$$;
comment on function tasks.enqueue(regclass, jsonb, text, interval) is
  'Enqueues rows given as JSON; with p_on_conflict, says per row whether it was enqueued or met its like, and what became of that; not_taken, without an id: a trigger swallowed it. In the order of the unique columns';

create function tasks.forget_unique() returns trigger
language plpgsql volatile
as $$
declare
  v_index text;
begin
  delete from tasks.unique_rules u where u.table_id = old.table_id returning u.index_name into v_index;
  if v_index is not null and tasks.quoted(old.table_id) is not null then
    execute pg_catalog.format('drop index if exists %I.%I',
      (select n.nspname from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.oid = old.table_id), v_index);
  end if;
  return null;
end
$$;
comment on function tasks.forget_unique() is 'Trigger: the tasks of a type that is unregistered are no longer unique';
create trigger forget_unique after delete on tasks.types for each row execute function tasks.forget_unique();

commit;
