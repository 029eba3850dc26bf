-- 0009_create_adopt: brings a database of the original pg_tasks over.
--
-- Flow: 0001 set the original's objects aside as tasks.original_*; adopt adds the template's columns to each of its task
-- tables, registers them with their old settings, and drops what it set aside once every type is over.
-- Locks: ACCESS EXCLUSIVE on each task table in turn, each waited for a second at most.

begin isolation level read committed;
select tasks.start_migration(9, 'create_adopt');

create function tasks.adopt() returns table (adopted_schema text, adopted_table text)
language plpgsql volatile
as $$
declare
  v_old   record;
  v_table regclass;
begin
  if pg_catalog.to_regclass('tasks.original_types') is null then
    return; -- nothing was set aside, or it is all over
  end if;
  for v_old in execute 'select o.schema_name, o.table_name, o.timeout, o.max_retries, o.notification_interval, o.storage_time from tasks.original_types o order by o.id' loop
    v_table := pg_catalog.to_regclass(pg_catalog.format('%I.%I', v_old.schema_name, v_old.table_name));
    if v_table is null then
      raise warning 'the table %.% of the original is gone: passed by', v_old.schema_name, v_old.table_name;
      continue;
    end if;
    -- NULLs that the original allowed, as it meant them.
    perform tasks.execute_ddl(v_table, array[
      pg_catalog.format('update %s set created_at = coalesce(created_at, now()), planned_to = coalesce(planned_to, created_at, now()), execution_count = coalesce(execution_count, 0) where created_at is null or planned_to is null or execution_count is null', tasks.quoted(v_table))]);
    if exists (select from pg_catalog.pg_attribute a where a.attrelid = v_table and a.attname = 'canceled' and not a.attisdropped) then
      perform tasks.execute_ddl(v_table, array[pg_catalog.format('update %s set canceled = false where canceled is null', tasks.quoted(v_table))]);
    end if;
    perform tasks.upgrade(v_table);
    perform tasks.execute_ddl(v_table, array[
      -- Running tasks of the original's workers keep their end; canceled ones get one, so that clean finds them.
      pg_catalog.format('update %s t set run_until = t.started_at + tasks.elapsed(%L::interval) where t.started_at is not null and t.finished_at is null and not t.canceled and t.run_until is null', tasks.quoted(v_table), v_old.timeout),
      pg_catalog.format('update %s t set canceled_at = tasks.clock() where t.canceled and t.finished_at is null and t.canceled_at is null', tasks.quoted(v_table)),
      -- Used up in the original: neither run again nor counted anywhere.
      pg_catalog.format('update %s t set failed_at = tasks.clock(), failure_reason = ''error'', last_error = ''executions used up in the original pg_tasks'' where t.started_at is null and t.finished_at is null and not t.canceled and t.failed_at is null and t.execution_count > %L::integer', tasks.quoted(v_table), v_old.max_retries)]);
    perform tasks.register(v_old.schema_name, v_old.table_name, timeout => v_old.timeout, max_retries => v_old.max_retries,
      notification_interval => v_old.notification_interval, storage_time => v_old.storage_time);
    adopted_schema := v_old.schema_name;
    adopted_table := v_old.table_name;
    return next;
  end loop;
  execute 'drop table tasks.original_types';
  begin
    drop view if exists tasks.original_stats;
    drop table if exists tasks.original_template;
  exception
    when dependent_objects_still_exist then
      raise notice 'tasks.original_stats or tasks.original_template stays: other objects depend on it';
  end;
end
$$;
comment on function tasks.adopt() is 'Brings the task types of the original pg_tasks over, with their settings; returns them; nothing to do the second time';

commit;
