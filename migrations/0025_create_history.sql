-- 0025_create_history: a row per attempt, for the types that ask for it.
--
-- Flow: keep_history puts statement triggers on a type's table that write each ended run into tasks.attempts, which is
-- partitioned by day; maintenance makes the partitions of the next days and drops those that are past their time. Where none
-- was made in time the default partition takes the rows.
-- Lock order: the ended rows, then new rows of tasks.attempts; when a partition comes or goes, tasks.attempts (access
-- exclusive): after 50 ms without it maintenance gives up until its next call, so that ends never queue up behind it.

begin isolation level read committed;
select tasks.start_migration(25, 'create_history');

alter table tasks.types add column history_time interval;
comment on column tasks.types.history_time is 'How long attempts are kept; NULL: none are written';

create table tasks.attempts (
  table_id   regclass not null,
  task_id    bigint not null,
  attempt    integer not null,
  worker_id  uuid,
  started_at timestamptz not null,
  ended_at   timestamptz not null,
  outcome    text not null,
  error      text
) partition by range (ended_at);
comment on table tasks.attempts is 'Ended runs of the types that keep history, by day';
comment on column tasks.attempts.table_id is 'The task table';
comment on column tasks.attempts.task_id is 'The task';
comment on column tasks.attempts.attempt is 'Which execution, from 1';
comment on column tasks.attempts.worker_id is 'Worker that ran it; NULL: acquired without a worker';
comment on column tasks.attempts.started_at is 'When it was acquired';
comment on column tasks.attempts.ended_at is 'When the outcome was written';
comment on column tasks.attempts.outcome is 'finished, retried, failed, canceled, released, reset or lost';
comment on column tasks.attempts.error is 'Error of the attempt';
create index attempts_task_idx on tasks.attempts (table_id, task_id, attempt);
create table tasks.attempts_default partition of tasks.attempts default;
comment on table tasks.attempts_default is 'Attempts of days for which no partition was made in time';
-- Without a key, rows of a published table can't be deleted else.
alter table tasks.attempts_default replica identity full;

create function tasks.write_attempts() returns trigger
language plpgsql volatile
as $$
begin
  if tg_op = 'DELETE' then
    execute 'insert into tasks.attempts (table_id, task_id, attempt, worker_id, started_at, ended_at, outcome)
      select $1, o.id, o.execution_count, o.run_worker, o.started_at, tasks.clock(), $2 from gone o
      where tasks.is_running(o.started_at, o.finished_at, o.failed_at, o.canceled)'
    using tg_relid::regclass,
      -- A finish that deletes; else a row that somebody deleted while it ran.
      case when pg_catalog.current_setting('pg_tasks.finishing', true) = tg_relid::text then 'finished' else 'canceled' end;
    return null;
  end if;
  -- The right to write here is asked for even where there is nothing to write: a producer replaces waiting tasks (0023).
  if not exists (
    select from old_rows o join new_rows n on n.id = o.id
    where tasks.is_running(o.started_at, o.finished_at, o.failed_at, o.canceled)
      and not tasks.is_running(n.started_at, n.finished_at, n.failed_at, n.canceled))
  then
    return null;
  end if;
  insert into tasks.attempts (table_id, task_id, attempt, worker_id, started_at, ended_at, outcome, error)
  select tg_relid::regclass, o.id, o.execution_count, o.run_worker, o.started_at, tasks.clock(),
    case
      when n.finished_at is not null then 'finished'
      when n.canceled then 'canceled'
      when n.failed_at is not null then case when n.failure_reason = 'lost' then 'lost' else 'failed' end
      when n.execution_count < o.execution_count then case when n.execution_count = 0 and n.planned_to <> o.planned_to then 'reset' else 'released' end
      when n.lost_count > o.lost_count then 'lost'
      else 'retried'
    end,
    case when n.finished_at is null and not n.canceled and n.execution_count >= o.execution_count then n.last_error end
  from old_rows o
  join new_rows n on n.id = o.id
  where tasks.is_running(o.started_at, o.finished_at, o.failed_at, o.canceled)
    and not tasks.is_running(n.started_at, n.finished_at, n.failed_at, n.canceled);
  return null;
end
$$;
comment on function tasks.write_attempts() is 'Trigger: writes ended runs into tasks.attempts';

create function tasks.keep_history(schema_name text, table_name text, history_time interval default '30 days') returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types := tasks.find_registered('keep_history', $1, $2);
begin
  if $3 <= interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('keep_history: history_time must be positive, not %s', $3), 'NULL: no history.');
  end if;
  perform tasks.check_interval('keep_history: history_time', $3);
  perform tasks.execute_ddl(v_type.table_id, array(
    select case when $3 is not null then pg_catalog.format('create trigger %I %s for each statement execute function tasks.write_attempts()', g.name, pg_catalog.format(g.event, tasks.quoted(v_type.table_id)))
      else pg_catalog.format('drop trigger %I on %s', g.name, tasks.quoted(v_type.table_id)) end
    from (values
      ('pg_tasks_history_update', 'after update on %s referencing old table as old_rows new table as new_rows'),
      ('pg_tasks_history_delete', 'after delete on %s referencing old table as gone')) as g (name, event)
    where ($3 is not null) is distinct from exists (select from pg_catalog.pg_trigger t where t.tgrelid = v_type.table_id and t.tgname = g.name)));
  update tasks.types y set history_time = tasks.elapsed($3) where y.table_id = v_type.table_id;
  perform tasks.maintain_history();
end
$$;
comment on function tasks.keep_history(text, text, interval) is 'Writes a row per attempt of a type from now on, and keeps it so long; NULL: no more';

-- Runs with the owner's rights: workers may call it, and make no tables of their own.
create function tasks.maintain_history() returns bigint
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  v_keep      interval := (select pg_catalog.max(y.history_time) from tasks.types y);
  v_today     date := (tasks.clock() at time zone 'UTC')::date;
  v_partition record;
  v_dropped   bigint := 0;
begin
  if v_keep is not null then
    for v_day in 0..7 loop
      if pg_catalog.to_regclass(pg_catalog.format('tasks.attempts_%s', pg_catalog.to_char(v_today + v_day, 'YYYYMMDD'))) is null then
        begin
          execute pg_catalog.format('create table tasks.attempts_%s partition of tasks.attempts for values from (%L) to (%L)',
            pg_catalog.to_char(v_today + v_day, 'YYYYMMDD'), (v_today + v_day)::text || ' 00:00:00+00', (v_today + v_day + 1)::text || ' 00:00:00+00');
          execute pg_catalog.format('alter table tasks.attempts_%s replica identity full', pg_catalog.to_char(v_today + v_day, 'YYYYMMDD'));
          execute pg_catalog.format('comment on table tasks.attempts_%s is ''Attempts that ended on this day (UTC)''', pg_catalog.to_char(v_today + v_day, 'YYYYMMDD'));
        exception
          when check_violation or duplicate_table then
            null; -- the default partition has rows of that day: they stay there
          when lock_not_available then
            return v_dropped; -- somebody's open transaction has written attempts
        end;
      end if;
    end loop;
  end if;
  for v_partition in
    select c.relname, pg_catalog.to_date(pg_catalog.substr(c.relname, 10), 'YYYYMMDD') as day
    from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'tasks.attempts'::regclass and c.relname ~ '^attempts_[0-9]{8}$'
  loop
    if v_partition.day + 1 <= v_today - coalesce(pg_catalog.ceil(pg_catalog.date_part('epoch', v_keep) / 86400)::integer, 0) and v_partition.day < v_today then
      begin
        execute pg_catalog.format('drop table tasks.%I', v_partition.relname);
        v_dropped := v_dropped + 1;
      exception
        when lock_not_available then
          return v_dropped;
      end;
    end if;
  end loop;
  delete from tasks.attempts_default a where a.ended_at < tasks.clock() - coalesce(v_keep, interval '0');
  return v_dropped;
end
$$;
comment on function tasks.maintain_history() is 'Makes the partitions of the next days and drops those past the longest history_time; returns how many it dropped';
revoke execute on function tasks.maintain_history() from public;

commit;
