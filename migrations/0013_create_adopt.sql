-- 0013_create_adopt: brings a database of the original pg_tasks over.
--
-- Flow: 0001 set the original's objects aside as tasks.original_*; adopt adds the template's columns to each of its task
-- tables and registers them with their old settings. A table that can't be adopted yet is reported and passed by; the next
-- call takes what is left. Once every type is over, what was set aside goes, as far as nothing of the user's depends on it.
-- Locks: the registration lock; ACCESS EXCLUSIVE on the task tables one after the other, each waited for a second at most
-- and all held until the call's transaction ends.

begin isolation level read committed;
select tasks.start_migration(13, 'create_adopt');

do $$
begin
  if pg_catalog.to_regclass('tasks.original_types') is not null then
    alter table tasks.original_types add column adopted_at timestamptz;
    comment on table tasks.original_types is 'Registry of the original pg_tasks, until all of its types are adopted; the registry is tasks.types';
    comment on column tasks.original_types.adopted_at is 'When tasks.adopt() brought the type over';
  end if;
end
$$;

create function tasks.adopt_table(p_table regclass, p_timeout interval, p_max_retries integer) returns void
language plpgsql volatile
as $$
declare
  v_table pg_catalog.text := tasks.quoted(p_table);
begin
  perform tasks.check_relation(p_table);
  -- The original allowed NULLs. Its version without the column canceled has none there.
  perform tasks.execute_ddl(p_table, array[
    pg_catalog.format('update %s set created_at = coalesce(created_at, pg_catalog.now()), planned_to = coalesce(planned_to, created_at, pg_catalog.now()), execution_count = coalesce(execution_count, 0)
      where created_at is null or planned_to is null or execution_count is null', v_table)]);
  if exists (select from pg_catalog.pg_attribute a where a.attrelid = p_table and a.attname = 'canceled' and not a.attisdropped) then
    perform tasks.execute_ddl(p_table, array[pg_catalog.format('update %s set canceled = false where canceled is null', v_table)]);
  end if;
  -- Deferred triggers of the user's would keep the table from being altered.
  set constraints all immediate;
  perform tasks.upgrade(p_table);
  perform tasks.execute_ddl(p_table, array[
    -- What the original's workers run keeps its end; what they canceled gets a date, so that clean finds it.
    pg_catalog.format('update %s t set run_until = t.started_at + tasks.elapsed(%L::pg_catalog.interval)
      where t.started_at is not null and t.finished_at is null and not t.canceled and t.run_until is null', v_table, p_timeout),
    pg_catalog.format('update %s t set canceled_at = tasks.clock()
      where t.canceled and t.finished_at is null and t.canceled_at is null', v_table),
    -- Used up: the original neither ran nor counted them any more.
    pg_catalog.format('update %s t set failed_at = tasks.clock(), failure_reason = ''error'', last_error = ''executions used up in the original pg_tasks''
      where t.started_at is null and t.finished_at is null and not t.canceled and t.failed_at is null and t.execution_count > %L::integer', v_table, p_max_retries)]);
end
$$;
comment on function tasks.adopt_table(regclass, interval, integer) is 'Makes a task table of the original one of ours: columns, indexes, and the state of its rows';

create function tasks.drop_original() returns void
language plpgsql volatile
as $$
declare
  v_object pg_catalog.text;
  v_detail pg_catalog.text;
begin
  for v_object in
    -- The view over all types reads those of the types, so it goes first.
    select pg_catalog.format('%s tasks.%I', case c.relkind when 'v' then 'view' else 'table' end, c.relname)
    from pg_catalog.pg_class c
    where c.relnamespace = 'tasks'::pg_catalog.regnamespace
      and (c.relkind = 'v' and (c.relname = 'original_stats' or pg_catalog.starts_with(c.relname, 'original_stats_of_'))
        or c.relkind = 'r' and c.relname in ('original_template', 'original_types'))
    order by c.relname
  loop
    begin
      execute 'drop ' || v_object;
    exception
      when dependent_objects_still_exist then
        get stacked diagnostics v_detail = pg_exception_detail;
        raise notice 'the % of the original stays: %', v_object, v_detail
          using hint = 'Let what depends on it read tasks.stats and tasks.types, then drop it.';
    end;
  end loop;
end
$$;
comment on function tasks.drop_original() is 'Drops what was set aside of the original, as far as nothing depends on it';

create function tasks.adopt() returns table (adopted_schema text, adopted_table text)
language plpgsql volatile
as $$
declare
  v_old   record;
  v_table pg_catalog.regclass;
  v_left  boolean := false;
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 1);
  if pg_catalog.to_regclass('tasks.original_types') is null then
    return;
  end if;
  for v_old in execute 'select o.* from tasks.original_types o where o.adopted_at is null order by o.schema_name, o.table_name' loop
    v_table := pg_catalog.to_regclass(pg_catalog.format('%I.%I', v_old.schema_name, v_old.table_name));
    if v_table is null then
      raise warning 'the table %.% of the original is gone', pg_catalog.quote_ident(v_old.schema_name), pg_catalog.quote_ident(v_old.table_name);
    else
      begin
        perform tasks.adopt_table(v_table, v_old.timeout, v_old.max_retries);
        perform tasks.register(v_old.schema_name, v_old.table_name, timeout => v_old.timeout, max_retries => v_old.max_retries,
          notification_interval => v_old.notification_interval, storage_time => v_old.storage_time);
      exception
        when sqlstate 'TQ003' or sqlstate 'TQ005' or sqlstate 'TQ007' or sqlstate 'TQ008' then
          v_left := true;
          raise warning '% is not adopted: %', tasks.quoted(v_table), sqlerrm
            using hint = 'Mend what it says (settings: in tasks.original_types), then call tasks.adopt() again.';
          continue;
      end;
      adopted_schema := v_old.schema_name;
      adopted_table := v_old.table_name;
      return next;
    end if;
    execute 'update tasks.original_types set adopted_at = pg_catalog.clock_timestamp() where id = $1' using v_old.id;
  end loop;
  if not v_left then
    perform tasks.drop_original();
  end if;
end
$$;
comment on function tasks.adopt() is 'Brings the task types of the original pg_tasks over, with their settings; returns those that it has adopted; what is left, it warns of';

commit;
