-- 0007_create_outcome_verbs: sources of retry, release, cancel and reset.
--
-- Flow, conditions and fencing: as in 0006.
-- Lock order: one task row, waited for, then the marks that reset forgets.

begin isolation level read committed;
select tasks.start_migration(7, 'create_outcome_verbs');

create function tasks.source_of_retry(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('retry', p_table, p_name, $signature$(
  task_id bigint, planned_to pg_catalog.timestamptz default null, comment pg_catalog.text default null,
  run_token pg_catalog.uuid default null, delay interval default null, error pg_catalog.text default null,
  reason pg_catalog.text default 'error', options pg_catalog.jsonb default null
) returns pg_catalog.text$signature$, $body$
declare
  v_type  tasks.types;
  v_now   pg_catalog.timestamptz := tasks.clock();
  v_state pg_catalog.text;
begin
  if $7 is null or $7 not in ('error', 'lost', 'run_limit') then
    perform tasks.refuse('TQ003', pg_catalog.format('retry: reason must be error, lost or run_limit, not %%s', coalesce($7, 'NULL')));
  elsif $2 is not null and $5 is not null then
    perform tasks.refuse('TQ003', 'retry: give planned_to or delay, not both');
  end if;
  perform tasks.check_interval('retry: delay', $5);
  select y.* into this.v_type from tasks.types y
  where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('retry', %3$s);
  end if;
  if $8 is null and tasks.is_unique(this.v_type.table_id) then
    -- A follow-up that was not committed when the trigger looked (0023) is there when the index has waited for it.
    for v_try in 1..3 loop
      begin
        return tasks.%2$s($1, $2, $3, $4, $5, $6, $7, '{}');
      exception
        when unique_violation then
          if v_try = 3 then
            raise;
          end if;
      end;
    end loop;
  end if;
  update %1$s t set
    planned_to = case
      when t.execution_count > this.v_type.max_retries then t.planned_to
      else coalesce($2, this.v_now + tasks.elapsed($5),
        this.v_now + tasks.backoff(this.v_type.backoff_base, this.v_type.backoff_max, t.execution_count - 1)) end,
    started_at = case when t.execution_count > this.v_type.max_retries then t.started_at end,
    failed_at = case when t.execution_count > this.v_type.max_retries then this.v_now end,
    failure_reason = case when t.execution_count > this.v_type.max_retries then $7 end,
    comment = coalesce($3, t.comment),
    last_error = coalesce(pg_catalog.left($6, 10000), t.last_error),
    lost_count = 0,
    run_token = null, run_worker = null, run_until = null
  where t.id = $1 and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
    and ($4 is null or t.run_token = $4)
  returning tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, this.v_now) into this.v_state;
  if this.v_state is null or this.v_state = 'running' then
    perform tasks.refuse_outcome(%3$s, 'retry', $1, $4);
  end if;
  return this.v_state;
end
$body$)
$source$;
comment on function tasks.source_of_retry(text, text) is
  'Source of retry: a running task waits again, until planned_to, for delay, or for the type''s backoff; failed when its executions are used up. Returns the new state';

create function tasks.source_of_release(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('release', p_table, p_name, $signature$(task_id bigint, run_token pg_catalog.uuid, options pg_catalog.jsonb default null) returns boolean$signature$, $body$
declare
  v_done boolean;
begin
  if $1 is null or $2 is null then
    perform tasks.refuse('TQ003', 'release: task_id and run_token must not be NULL');
  end if;
  perform from tasks.types y where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('release', %3$s);
  end if;
  if $3 is null and tasks.is_unique(%3$s::pg_catalog.regclass) then
    -- As in retry.
    for v_try in 1..3 loop
      begin
        return tasks.%2$s($1, $2, '{}');
      exception
        when unique_violation then
          if v_try = 3 then
            raise;
          end if;
      end;
    end loop;
  end if;
  -- Naming planned_to wakes the workers.
  update %1$s t set
    execution_count = greatest(t.execution_count - 1, 0),
    planned_to = t.planned_to,
    started_at = null, run_token = null, run_worker = null, run_until = null
  where t.id = $1 and t.run_token = $2 and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
  returning t.started_at is null into this.v_done;
  return coalesce(this.v_done, false);
end
$body$)
$source$;
comment on function tasks.source_of_release(text, text) is
  'Source of release: gives a run back as if it had not been acquired; false when this run no longer has the task';

-- A full queue would fail the caller's commit; the next heartbeat tells the worker as well.
create function tasks.notify_run(p_table_id regclass, p_task_id bigint, p_what text) returns void
language plpgsql volatile
as $$
begin
  if pg_catalog.pg_notification_queue_usage() < 0.5 then
    perform pg_catalog.pg_notify('pg_tasks_control', p_table_id::pg_catalog.oid || ' ' || p_task_id || ' ' || p_what);
  end if;
end
$$;
comment on function tasks.notify_run(regclass, bigint, text) is 'Tells the worker that runs a task, on the channel pg_tasks_control, that its run is over: "<oid of the table> <id> canceled" or "... reset"';

create function tasks.source_of_cancel(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('cancel', p_table, p_name, $signature$(
  task_id bigint, planned_to pg_catalog.timestamptz default null, comment pg_catalog.text default null,
  run_token pg_catalog.uuid default null, options pg_catalog.jsonb default null
) returns pg_catalog.text$signature$, $body$
declare
  v_table_id pg_catalog.oid := %3$s::pg_catalog.regclass;
  v_state    pg_catalog.text;
  v_token    pg_catalog.uuid;
  v_done     boolean;
begin
  perform from tasks.types y where y.table_id = this.v_table_id::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('cancel', %3$s);
  end if;
  select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()) into this.v_state
  from %1$s t where t.id = $1;
  -- An ended task is only reported; whoever holds its row isn't waited for.
  if this.v_state in ('finished', 'failed', 'canceled') and $4 is null then
    return this.v_state;
  end if;
  -- Having waited for the row, look again: it may have ended meanwhile.
  select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()), t.run_token
  into this.v_state, this.v_token
  from %1$s t where t.id = $1 for no key update;
  if this.v_state is null or $4 is not null and ($4 is distinct from this.v_token or this.v_state <> 'running') then
    perform tasks.refuse_outcome(%3$s, 'cancel', $1, $4);
  elsif this.v_state in ('finished', 'failed', 'canceled') then
    return this.v_state;
  end if;
  -- Naming planned_to would wake the workers for nothing.
  if $2 is null then
    update %1$s t set
      canceled = true, canceled_at = tasks.clock(), comment = coalesce($3, t.comment),
      run_token = null, run_worker = null, run_until = null
    where t.id = $1 returning t.canceled into this.v_done;
  else
    update %1$s t set
      canceled = true, canceled_at = tasks.clock(), planned_to = $2, comment = coalesce($3, t.comment),
      run_token = null, run_worker = null, run_until = null
    where t.id = $1 returning t.canceled into this.v_done;
  end if;
  if this.v_done is not true then
    perform tasks.refuse_outcome(%3$s, 'cancel', $1, null);
  end if;
  if this.v_state = 'running' then
    perform tasks.notify_run(this.v_table_id::pg_catalog.regclass, $1, 'canceled');
  end if;
  return this.v_state;
end
$body$)
$source$;
comment on function tasks.source_of_cancel(text, text) is
  'Source of cancel: an unfinished task is canceled; a running one''s handler hears it. Returns the state in which it was found';

create function tasks.source_of_reset(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('reset', p_table, p_name, $signature$(task_id bigint, options pg_catalog.jsonb default null) returns pg_catalog.text$signature$, $body$
declare
  v_table_id pg_catalog.oid := %3$s::pg_catalog.regclass;
  v_before   pg_catalog.text;
  v_state    pg_catalog.text;
  v_done     boolean;
begin
  perform from tasks.types y where y.table_id = this.v_table_id::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('reset', %3$s);
  end if;
  select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()) into this.v_before
  from %1$s t where t.id = $1;
  -- Whoever finishes it in an open transaction is waited for; who reset what they saw must not undo what they didn't see.
  select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()) into this.v_state
  from %1$s t where t.id = $1 for no key update;
  if this.v_state is null then
    perform tasks.refuse_outcome(%3$s, 'reset', $1, null);
  elsif this.v_state in ('finished', 'failed', 'canceled') and this.v_state <> this.v_before then
    perform tasks.refuse('TQ006', pg_catalog.format('reset: task %%s of %%s was %%s and is %%s meanwhile', $1, %3$s, this.v_before, this.v_state),
      'Look again and repeat the call if it still should run.');
  end if;
  -- As in retry; the row stays locked meanwhile.
  for v_try in 1..3 loop
    begin
      update %1$s t set
        planned_to = tasks.clock(), execution_count = 0, lost_count = 0,
        started_at = null, finished_at = null, failed_at = null, canceled = false, canceled_at = null,
        failure_reason = null, last_error = null, comment = null,
        run_token = null, run_worker = null, run_until = null
      where t.id = $1 returning t.execution_count = 0 and t.run_token is null into this.v_done;
      exit;
    exception
      when unique_violation then
        if v_try = 3 or not tasks.is_unique(this.v_table_id::pg_catalog.regclass) then
          raise;
        end if;
    end;
  end loop;
  if this.v_done is not true then
    perform tasks.refuse_outcome(%3$s, 'reset', $1, null);
  end if;
  if $2 is not null then
    perform tasks.apply_reset_options(this.v_table_id::pg_catalog.regclass, $1, $2);
  end if;
  if this.v_state = 'running' then
    perform tasks.notify_run(this.v_table_id::pg_catalog.regclass, $1, 'reset');
  end if;
  return this.v_state;
end
$body$)
$source$;
comment on function tasks.source_of_reset(text, text) is
  'Source of reset: a task in any state is ready now, as if it had never run; an old run is stale. Returns the state in which it was found';

commit;
