-- 0026_create_batches: batches of tasks that are acquired, run and finished in one transaction.
--
-- Flow: a worker acquires tasks in a transaction (option one_transaction of acquire: no lease is taken, and the claim stays
-- uncommitted), writes their ids down in tasks.batches by another session, which commits, takes that record away in its own
-- transaction, runs the tasks, writes their outcomes and commits. So the record goes if and only if the batch was committed.
-- A worker that dies in between leaves nothing running: its session ends, its rows are unlocked and were never taken, and no
-- execution was counted. What it leaves is the record, and that is how a task is found that ends every process: whoever next
-- claims a task that stands in somebody's record knows that the batch of that record did not commit, because the row was
-- locked for as long as it might. It rolls back, and makes suspects of that record's tasks, which are acquired singly from
-- then on, with a lease and an execution that is counted.
-- Lock order: the batch: task rows by acquire, its record. suspect_batches: records, then task rows, skip locked.

begin isolation level read committed;
select tasks.start_migration(26, 'create_batches');

-- written_by lets a look step over what its session has seen deleted, as in tasks.freed_keys (0022).
create table tasks.batches (
  id         bigint generated always as identity primary key,
  table_id   regclass not null,
  worker_id  uuid not null,
  task_ids   bigint[] not null,
  opened_at  timestamptz not null default pg_catalog.clock_timestamp(),
  written_by xid8 not null default pg_catalog.pg_current_xact_id()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table tasks.batches is 'Batches that run in one transaction, and those whose transaction ended with its process';
comment on column tasks.batches.id is 'Identity';
comment on column tasks.batches.table_id is 'The task table';
comment on column tasks.batches.worker_id is 'The worker that runs it';
comment on column tasks.batches.task_ids is 'Its tasks';
comment on column tasks.batches.opened_at is 'When it was acquired';
comment on column tasks.batches.written_by is 'Transaction that wrote it';
create index batches_table_idx on tasks.batches (table_id, written_by, id);

create function tasks.open_batch(p_table_id oid, p_worker_id uuid, p_task_ids bigint[]) returns bigint
language plpgsql volatile
set enable_seqscan to off
as $$
declare
  v_setting text := 'pg_tasks.batches_' || p_table_id;
  v_xmin    xid8 := pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot());
  v_seen    xid8 := coalesce(nullif(pg_catalog.current_setting(v_setting, true), ''), '0')::xid8;
  v_oldest  xid8;
  v_met     boolean;
  v_id      bigint;
begin
  select b.written_by, pg_catalog.bool_or(b.task_ids && p_task_ids) over () into v_oldest, v_met
  from tasks.batches b where b.table_id = p_table_id::regclass and b.written_by >= v_seen
  order by b.written_by limit 1;
  if v_met then
    return null;
  end if;
  -- All that is older, and than the oldest transaction that was under way, is gone.
  perform pg_catalog.set_config(v_setting, least(v_oldest, v_xmin)::text, false);
  insert into tasks.batches as b (table_id, worker_id, task_ids) values (p_table_id::regclass, p_worker_id, p_task_ids) returning b.id into v_id;
  return v_id;
end
$$;
comment on function tasks.open_batch(oid, uuid, bigint[]) is
  'Writes a batch down whose tasks the caller has claimed in another session''s open transaction; NULL, and nothing is written, if one of them stands in a batch that did not commit';

create function tasks.close_batch(p_id bigint) returns void
language plpgsql volatile
as $$
begin
  delete from tasks.batches b where b.id = p_id;
  if not found then
    perform tasks.refuse('TQ001', 'close_batch: this batch was taken for one that had ended', 'Roll back; its tasks run singly.');
  end if;
end
$$;
comment on function tasks.close_batch(bigint) is 'Takes the record of a batch away; called in the transaction of the batch, so that it goes if and only if that commits';

-- A row that is locked has somebody who looks after it: the living owner of the batch, or whoever has claimed it meanwhile.
create function tasks.suspect_tasks(p_table regclass, p_ids bigint[]) returns bigint
language plpgsql volatile
as $$
declare
  v_count bigint;
begin
  execute pg_catalog.format($query$
    with free as materialized (
      select t.id from %1$s t
      where t.id = any ($1) and tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, 'infinity') = 'ready'
      order by t.id for no key update skip locked
    )
    update %1$s t set lost_count = greatest(t.lost_count, 2), last_error = coalesce(t.last_error, 'the batch in which it ran was not committed')
    from free f where t.id = f.id
  $query$, tasks.quoted(p_table)) using p_ids;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tasks.suspect_tasks(regclass, bigint[]) is 'Makes suspects of the waiting ones of some tasks that nobody has locked; returns how many';

create function tasks.suspect_batches(p_table_id oid) returns bigint
language plpgsql volatile
set enable_seqscan to off
as $$
declare
  v_table text := tasks.quoted(p_table_id::regclass);
  v_batch record;
  v_id    bigint;
  v_left  bigint[];
  v_count bigint := 0;
begin
  for v_batch in
    select b.id, b.task_ids from tasks.batches b where b.table_id = p_table_id::regclass order by b.id for update skip locked
  loop
    v_left := '{}';
    if v_table is not null then
      begin
        v_count := v_count + tasks.suspect_tasks(p_table_id::regclass, v_batch.task_ids);
      exception
        when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available
          or insufficient_privilege or undefined_table or undefined_function or undefined_column then
          raise;
        when others then
          -- A user's trigger refuses one of them; it must not be in the way of the others.
          foreach v_id in array v_batch.task_ids loop
            begin
              v_count := v_count + tasks.suspect_tasks(p_table_id::regclass, array[v_id]);
            exception
              when transaction_rollback or insufficient_resources or operator_intervention then
                raise;
              when others then
                raise warning 'task % of % could not be made a suspect: %', v_id, v_table, sqlerrm;
            end;
          end loop;
      end;
      -- Those that somebody has locked.
      execute pg_catalog.format($query$
        select coalesce(pg_catalog.array_agg(t.id::bigint order by t.id), '{}') from %1$s t
        where t.id = any ($1) and t.lost_count < 2
          and tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, 'infinity') = 'ready'
          and t.id not in (select f.id from %1$s f where f.id = any ($1) for no key update skip locked)
      $query$, v_table) into v_left using v_batch.task_ids;
    end if;
    if pg_catalog.cardinality(v_left) = 0 then
      delete from tasks.batches b where b.id = v_batch.id;
    elsif v_left <> v_batch.task_ids then
      update tasks.batches b set task_ids = v_left where b.id = v_batch.id;
    end if;
  end loop;
  return v_count;
end
$$;
comment on function tasks.suspect_batches(oid) is 'Makes suspects of the tasks of batches that did not commit: they run singly from now on; returns how many';

create function tasks.forget_batches() returns trigger
language plpgsql volatile
as $$
begin
  delete from tasks.batches b where b.table_id = old.table_id;
  return null;
end
$$;
comment on function tasks.forget_batches() is 'Trigger: a type that is unregistered leaves no records of batches behind';
create trigger forget_batches after delete on tasks.types for each row execute function tasks.forget_batches();

commit;
