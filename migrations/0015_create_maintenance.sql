-- 0015_create_maintenance: retention by itself.
--
-- Flow: maintain cleans each type's ended tasks past its storage_time, the ledger, and leases of workers that are gone, in
-- bounded batches. Workers call it now and then; pg_cron may as well. One call at a time in a database: others return at once.
-- Lock order: the maintenance lock (advisory, transaction), then rows of one table after the other, skip locked.

begin isolation level read committed;
select tasks.start_migration(15, 'create_maintenance');

create function tasks.maintain(p_max_num bigint default 10000) returns table (what text, deleted bigint)
language plpgsql volatile
as $$
declare
  v_type  tasks.types;
  v_count bigint;
begin
  if p_max_num is null or p_max_num < 1 then
    perform tasks.refuse('TQ003', 'maintain: p_max_num must be at least 1');
  end if;
  if not pg_catalog.pg_try_advisory_xact_lock(1886415980, 2) then
    return;
  end if;
  for v_type in select y.* from tasks.types y where y.storage_time > interval '0' and tasks.quoted(y.table_id) is not null order by y.table_id loop
    begin
      execute pg_catalog.format('select tasks.%I(null, ''{finished,failed,canceled}'', $1)', 'clean_' || v_type.function_name)
      into v_count using p_max_num;
      if v_count > 0 then
        what := tasks.quoted(v_type.table_id);
        deleted := v_count;
        return next;
      end if;
    exception
      when transaction_rollback or insufficient_resources or operator_intervention then
        raise;
      when others then
        raise warning 'tasks of % could not be cleaned: %', tasks.quoted(v_type.table_id), sqlerrm;
    end;
  end loop;

  -- A week at least, and as long as a schedule may catch up. What is watched is still needed.
  with old as (
    select o.schedule_key, o.occurrence_at from tasks.occurrences o
    where o.created_at < tasks.clock() - interval '7 days' and not o.watched
      and not exists (select from tasks.schedules s where s.key = o.schedule_key and o.created_at >= tasks.clock() - s.catch_up_window)
    order by o.created_at limit p_max_num for update skip locked
  ), gone as (
    delete from tasks.occurrences o using old where o.schedule_key = old.schedule_key and o.occurrence_at = old.occurrence_at returning 1
  )
  select pg_catalog.count(*) into v_count from gone;
  if v_count > 0 then
    what := 'tasks.occurrences';
    deleted := v_count;
    return next;
  end if;

  -- Marks of tables that are gone; those of deleted tasks went with them.
  with gone as (
    delete from tasks.marks m where m.table_id in (
      select d.table_id from (select distinct k.table_id from tasks.marks k) d where tasks.quoted(d.table_id) is null)
    returning 1
  )
  select pg_catalog.count(*) into v_count from gone;
  if v_count > 0 then
    what := 'tasks.marks';
    deleted := v_count;
    return next;
  end if;
end
$$;
comment on function tasks.maintain(bigint) is
  'Deletes ended tasks past their type''s storage_time, old occurrences and marks of dropped tables, at most p_max_num of each; returns what it deleted';

commit;
