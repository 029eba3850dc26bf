-- 0020_create_maintenance: retention by itself.
--
-- Flow: maintain cleans each type's ended tasks past its storage_time, the ledger, marks of dropped tables, the leases and
-- batches of workers that are gone and the history, in bounded batches from an index. Workers call it now and then; pg_cron may as well. One call at a
-- time in a database: others return at once.
-- Lock order: the maintenance lock (advisory, transaction), then rows of one table after the other, skip locked.

begin isolation level read committed;
select tasks.start_migration(20, 'create_maintenance');

create function tasks.kept_tasks(p_table regclass, p_states text[], p_ended_before timestamptz, out kept bigint, out deleted bigint, out reason text) returns record
language plpgsql volatile
as $$
declare
  v_table text := tasks.quoted(p_table);
  v_state text;
  v_where text;
  v_some  bigint;
  v_id    bigint;
begin
  kept := 0;
  deleted := 0;
  foreach v_state in array p_states loop
    v_where := case v_state
      when 'finished' then 't.finished_at < $1'
      when 'failed' then 't.failed_at < $1 and t.finished_at is null and not t.canceled'
      else 't.canceled_at < $1 and t.canceled and t.finished_at is null' end;
    execute pg_catalog.format('select pg_catalog.count(*) from (select from %s t where %s limit 1000) s', v_table, v_where)
    into v_some using p_ended_before;
    kept := kept + v_some;
    continue when v_some = 0 or reason is not null;
    begin
      execute pg_catalog.format('select t.id from %s t where %s order by %s limit 1 for update skip locked', v_table, v_where,
        case v_state when 'finished' then 't.finished_at' when 'failed' then 't.failed_at' else 't.canceled_at' end)
      into v_id using p_ended_before;
      -- Locked by somebody: only late.
      continue when v_id is null;
      execute pg_catalog.format('delete from %s t where t.id = $1', v_table) using v_id;
      get diagnostics v_some = row_count;
      perform tasks.check_deferred(p_table);
      kept := kept - v_some;
      deleted := deleted + v_some;
      if v_some = 0 then
        reason := 'kept back by a trigger or by row level security';
      end if;
    exception
      when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
        raise;
      when others then
        reason := sqlerrm;
    end;
  end loop;
  if reason is null then
    kept := 0;
  end if;
end
$$;
comment on function tasks.kept_tasks(regclass, text[], timestamptz) is
  'How many tasks that ended before an instant clean has left (counted up to 1000 per state), and why: one of them is tried; 0 when they were only locked';

create function tasks.may_delete(p_table regclass) returns boolean
language sql stable
as $$
  select pg_catalog.has_table_privilege(p_table, 'select') and pg_catalog.has_table_privilege(p_table, 'update')
    and pg_catalog.has_table_privilege(p_table, 'delete')
$$;
comment on function tasks.may_delete(regclass) is 'Whether the caller may lock and delete rows of a table';

-- 0: deleted at finish. What a foreign key held then is free later; failed and canceled ones stay until somebody cleans them.
create function tasks.stored_states(p_storage_time interval) returns text[]
language sql immutable
as $$
  select case when p_storage_time = interval '0' then '{finished}'::text[] else '{finished,failed,canceled}' end
$$;
comment on function tasks.stored_states(interval) is 'States of the tasks that are deleted once storage_time is over';

create function tasks.maintain(p_max_num bigint default 10000) returns table (what text, deleted bigint, kept bigint, reason text)
language plpgsql volatile
as $$
declare
  v_type         tasks.types;
  v_left         bigint := p_max_num;
  v_kept         record;
  v_some         bigint;
  v_before       timestamptz;
  v_table        regclass := '0'::regclass;
  v_lock_timeout text := pg_catalog.current_setting('lock_timeout');
begin
  if p_max_num is null or p_max_num < 1 then
    perform tasks.refuse('TQ003', 'maintain: p_max_num must be at least 1');
  end if;
  if not pg_catalog.pg_try_advisory_xact_lock(1886415980, 2) then
    return;
  end if;

  -- In random order: one with ever more to delete must not use up the number for all.
  for v_type in
    select y.* from tasks.types y
    where y.storage_time is not null and tasks.quoted(y.table_id) is not null
      and tasks.may_delete(y.table_id)
    order by pg_catalog.random()
  loop
    exit when v_left < 1;
    what := tasks.quoted(v_type.table_id);
    deleted := 0;
    kept := 0;
    reason := null;
    begin
      v_before := tasks.clock() - tasks.elapsed(v_type.storage_time);
      execute pg_catalog.format('select tasks.%I($1, $2, $3)', 'clean_before_' || v_type.function_name)
      into deleted using v_before, tasks.stored_states(v_type.storage_time), v_left;
      if deleted < v_left then
        v_kept := tasks.kept_tasks(v_type.table_id, tasks.stored_states(v_type.storage_time), v_before);
        deleted := deleted + v_kept.deleted;
        kept := v_kept.kept;
        reason := v_kept.reason;
      end if;
      v_left := v_left - deleted;
    exception
      when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
        raise;
      when others then
        -- Its functions are not current, or its owner has taken a right away: the others go on.
        deleted := 0;
        reason := sqlerrm;
        raise warning 'tasks of % could not be cleaned: %', what, reason;
    end;
    if deleted > 0 or reason is not null then
      return next;
    end if;
  end loop;
  kept := 0;
  reason := null;

  -- A week at least, and as long as any schedule may catch up: one limit, so that what is kept isn't walked. What is watched
  -- is still needed.
  if v_left > 0 and tasks.may_delete('tasks.occurrences') then
    v_before := tasks.clock() - (
      select greatest(interval '7 days', pg_catalog.max(tasks.elapsed(s.catch_up_window))) from tasks.schedules s);
    with old as materialized (
      select o.schedule_key, o.occurrence_at from tasks.occurrences o
      where o.created_at < v_before and not o.watched
      order by o.created_at limit v_left for update skip locked
    )
    delete from tasks.occurrences o using old where o.schedule_key = old.schedule_key and o.occurrence_at = old.occurrence_at;
    get diagnostics deleted = row_count;
    v_left := v_left - deleted;
    if deleted > 0 then
      what := 'tasks.occurrences';
      return next;
    end if;
  end if;

  -- Marks of tables that are gone; those of deleted tasks went with them, but for a few. One step in the index per table.
  if v_left > 0 and tasks.may_delete('tasks.marks') then
    what := 'tasks.marks';
    deleted := 0;
    loop
      v_table := (select m.table_id from tasks.marks m where m.table_id > v_table order by m.table_id limit 1);
      exit when v_table is null or v_left < 1;
      if tasks.quoted(v_table) is null then
        with gone as materialized (
          select m.task_id, m.step from tasks.marks m where m.table_id = v_table order by m.task_id, m.step limit v_left for update skip locked
        )
        delete from tasks.marks m using gone g where m.table_id = v_table and m.task_id = g.task_id and m.step = g.step;
        get diagnostics v_some = row_count;
      elsif pg_catalog.has_table_privilege(v_table, 'select') then
        begin
          v_some := tasks.forget_stray_marks(v_table, least(v_left, 200));
        exception
          when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
            raise;
          when others then
            -- It is unregistered and no task table any more, or in a schema that the caller may not use.
            v_some := 0;
            raise warning 'marks of % could not be looked through: %', tasks.quoted(v_table), sqlerrm;
        end;
      else
        v_some := 0;
      end if;
      deleted := deleted + v_some;
      v_left := v_left - v_some;
    end loop;
    if deleted > 0 then
      return next;
    end if;
  end if;

  -- Leases of dead workers. Where no worker of the type is left, nobody else brings back what they cover.
  if tasks.may_delete('tasks.leases') then
    what := 'tasks.leases';
    select pg_catalog.count(*) into deleted from tasks.leases l;
    delete from tasks.leases l
    where (l.worker_id, l.table_id) in (
      select d.worker_id, d.table_id from tasks.leases d where tasks.quoted(d.table_id) is null order by d.worker_id for update skip locked);
    for v_type in
      select y.* from tasks.types y
      where tasks.quoted(y.table_id) is not null
        and tasks.may_delete(y.table_id)
        and exists (select from tasks.leases l where l.table_id = y.table_id and l.leased_until < tasks.clock() - interval '1 minute')
      order by y.table_id
    loop
      begin
        execute pg_catalog.format('select tasks.%I()', 'rescue_' || v_type.function_name);
      exception
        when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
          raise;
        when others then
          raise warning 'tasks of % could not be rescued: %', tasks.quoted(v_type.table_id), sqlerrm;
      end;
    end loop;
    deleted := deleted - (select pg_catalog.count(*) from tasks.leases l);
    if deleted > 0 then
      return next;
    end if;
  end if;

  -- Batches that ended with their process (0026), where no worker of the type has met them since.
  if tasks.may_delete('tasks.batches') then
    for v_type in
      select y.* from tasks.types y
      where tasks.quoted(y.table_id) is not null and tasks.may_delete(y.table_id)
        and exists (select from tasks.batches b where b.table_id = y.table_id and b.opened_at < tasks.clock() - interval '1 minute')
      order by y.table_id
    loop
      begin
        perform tasks.suspect_batches(v_type.table_id);
      exception
        when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
          raise;
        when others then
          raise warning 'batches of % could not be looked through: %', tasks.quoted(v_type.table_id), sqlerrm;
      end;
    end loop;
  end if;

  -- Tasks that are held back although their key is free (0022); the locks there leave none, this stands behind them.
  for v_type in
    select y.* from tasks.types y
    where y.key_columns is not null and tasks.quoted(y.table_id) is not null and tasks.may_delete(y.table_id)
    order by y.table_id
  loop
    begin
      perform tasks.admit_stranded(v_type);
    exception
      when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
        raise;
      when others then
        raise warning 'held tasks of % could not be looked through: %', tasks.quoted(v_type.table_id), sqlerrm;
    end;
  end loop;

  -- Partitions of the history (0025). Its writers wait behind whoever waits for this lock: so not for long, and last.
  if pg_catalog.has_function_privilege('tasks.maintain_history()', 'execute') then
    begin
      perform pg_catalog.set_config('lock_timeout', '100ms', true);
      deleted := tasks.maintain_history();
      if deleted > 0 then
        what := 'tasks.attempts';
        return next;
      end if;
    exception
      when lock_not_available then
        null; -- another time
    end;
    perform pg_catalog.set_config('lock_timeout', v_lock_timeout, true);
  end if;
end
$$;
comment on function tasks.maintain(bigint) is
  'Deletes ended tasks past their type''s storage_time, old occurrences, marks of dropped tables and leases of dead workers, at most p_max_num rows; returns what it deleted, and what it had to leave with the reason';

commit;
