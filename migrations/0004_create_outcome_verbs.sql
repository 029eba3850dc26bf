-- 0004_create_outcome_verbs: sources of finish, finish_many, retry, release, cancel and reset.
--
-- Flow: as in 0003. Conditions on the state go through tasks.is_running, so that no by-id statement is planned on a partial
-- index.
-- Fencing: with a token, the row must be running with it; without one, finish and retry still require that it is running.
-- Lock order: one task row, waited for (finish, retry, release, cancel, reset), then the marks that reset forgets. finish_many
-- locks its rows in id order and skips locked ones; at first it tries all at once, and waits for none longer than 10 ms.

begin isolation level read committed;
select tasks.start_migration(4, 'create_outcome_verbs');

-- The way of every refused outcome: looks at the row and says what is the matter.
create function tasks.refuse_outcome(p_table text, p_verb text, p_task_id bigint, p_run_token uuid) returns void
language plpgsql volatile
as $$
declare
  v_state pg_catalog.text;
  v_token pg_catalog.uuid;
begin
  if p_task_id is null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: task_id must not be NULL', p_verb));
  end if;
  execute pg_catalog.format(
    'select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()), t.run_token from %s t where t.id = $1',
    p_table)
  into v_state, v_token using p_task_id;
  if v_state is null then
    perform tasks.refuse('TQ002', pg_catalog.format('%s: there is no task %s in %s', p_verb, p_task_id, p_table),
      'The id is wrong, or the task was deleted: by clean, or at its finish where storage_time is 0.');
  elsif v_state = 'running' and p_run_token is not null and v_token is distinct from p_run_token then
    perform tasks.refuse('TQ001', pg_catalog.format('%s: task %s of %s is run by another', p_verb, p_task_id, p_table),
      'The lease of this run ended and the task was taken over; roll back.');
  elsif v_state = 'finished' and v_token = p_run_token then
    perform tasks.refuse('TQ001', pg_catalog.format('%s: task %s of %s was finished by this run already', p_verb, p_task_id, p_table),
      'Roll this back. Either an earlier COMMIT went through, and its work with it, or the handler returned before this: is an await missing?');
  elsif v_state = 'running' or p_verb in ('cancel', 'reset') and p_run_token is null then
    perform tasks.refuse('TQ011', pg_catalog.format('%s: task %s of %s was kept back by a trigger or by row level security', p_verb, p_task_id, p_table),
      'Look for a BEFORE trigger of the table that returns NULL or OLD, and at its policies.');
  else
    perform tasks.refuse('TQ001', pg_catalog.format('%s: task %s of %s is %s, not running', p_verb, p_task_id, p_table, v_state),
      case when p_run_token is null then 'Only a running task can be finished or retried.' else 'This run was ended by somebody else; roll back.' end);
  end if;
end
$$;
comment on function tasks.refuse_outcome(text, text, bigint, uuid) is 'Raises what is the matter with a task that could not be finished, retried, canceled or reset';

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

create function tasks.source_of_finish(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('finish', p_table, p_name, $head$
create or replace function tasks.%2$s(
  task_id bigint, started_at pg_catalog.timestamptz default null, comment pg_catalog.text default null,
  run_token pg_catalog.uuid default null, options pg_catalog.jsonb default null
) returns pg_catalog.text
language plpgsql volatile
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
$head$, $body$
#variable_conflict use_column
<<this>>
declare
  v_timeout interval;
  v_storage interval;
  v_limit   double precision;
  v_set     pg_catalog.text;
  v_done    boolean;
begin
  select y.timeout, y.storage_time into this.v_timeout, this.v_storage from tasks.types y
  where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('finish', %3$s);
  end if;
  if this.v_storage = interval '0' then
    begin
      delete from %1$s t
      where t.id = $1 and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
        and ($4 is null or t.run_token = $4);
      if not found then
        perform tasks.refuse_outcome(%3$s, 'finish', $1, $4);
      end if;
      perform tasks.check_deferred(%3$s::pg_catalog.regclass);
    exception
      when foreign_key_violation then
        -- What a foreign key holds is finished all the same; clean deletes it once it is free.
        v_storage := null;
    end;
  end if;
  if this.v_storage is null or this.v_storage > interval '0' then
    update %1$s t set finished_at = tasks.clock(), comment = coalesce($3, t.comment)
    where t.id = $1 and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
      and ($4 is null or t.run_token = $4)
    returning t.finished_at is not null into this.v_done;
    -- A trigger that returns OLD lets a row be updated to what it was.
    if this.v_done is not true then
      perform tasks.refuse_outcome(%3$s, 'finish', $1, $4);
    end if;
  end if;
  -- A finish in an open transaction holds its row. A connection that is cut before COMMIT gives it back within a lease; a lower
  -- limit of the caller's stays.
  v_limit := pg_catalog.date_part('epoch', this.v_timeout);
  if this.v_limit < 2000000 and (
    pg_catalog.current_setting('idle_in_transaction_session_timeout') = '0'
    or pg_catalog.date_part('epoch', pg_catalog.current_setting('idle_in_transaction_session_timeout')::interval) > this.v_limit)
  then
    v_set := pg_catalog.set_config('idle_in_transaction_session_timeout', pg_catalog.ceil(this.v_limit * 1000)::bigint::pg_catalog.text, true);
  end if;
  return 'finished';
end
$body$)
$source$;
comment on function tasks.source_of_finish(text, text) is 'Source of finish: a running task is finished (deleted when storage_time is 0); raises unless this run may';

create function tasks.source_of_finish_many(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('finish_many', p_table, p_name, $head$
create or replace function tasks.%2$s(task_ids bigint[], run_tokens pg_catalog.uuid[], options pg_catalog.jsonb default null)
returns table (task_id bigint, outcome pg_catalog.text)
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
$head$, $body$
#variable_conflict use_column
<<this>>
declare
  v_storage interval;
  v_careful boolean;
  v_wait    pg_catalog.text;
  v_set     pg_catalog.text;
  v_count   integer;
  v_ids     bigint[];
  v_done    bigint[];
  v_one     bigint;
begin
  if (pg_catalog.cardinality($1) = pg_catalog.cardinality($2)) is not true then
    perform tasks.refuse('TQ003', 'finish_many: task_ids and run_tokens must be arrays of the same length');
  end if;
  -- Nearly always all of them can be finished, and at once: what is not to be had within 10 ms, or not all, is undone and done
  -- again with care. Not where a user's trigger may wait for more than the row.
  select y.storage_time, pg_catalog.current_setting('lock_timeout'), exists (
      select from pg_catalog.pg_trigger g
      where g.tgrelid = y.table_id and not g.tgisinternal and not pg_catalog.starts_with(g.tgname, 'pg_tasks_'))
  into this.v_storage, this.v_wait, this.v_careful
  from tasks.types y
  where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('finish_many', %3$s);
  end if;
  if not this.v_careful then
    begin
      v_set := pg_catalog.set_config('lock_timeout', '10ms', true);
      if this.v_storage = interval '0' then
        delete from %1$s t
        where t.id = any ($1) and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
          and ((t.id, t.run_token) in (select u.id, u.token from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (id, token))) is true;
      else
        update %1$s t set finished_at = tasks.clock()
        where t.id = any ($1) and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
          and ((t.id, t.run_token) in (select u.id, u.token from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (id, token))) is true;
      end if;
      get diagnostics v_count = row_count;
      if this.v_count = pg_catalog.cardinality($1) then
        if this.v_storage = interval '0' then
          perform tasks.check_deferred(%3$s::pg_catalog.regclass);
        end if;
        v_set := pg_catalog.set_config('lock_timeout', this.v_wait, true);
        return;
      end if;
      raise exception using errcode = 'cardinality_violation', message = 'not all of them';
    exception
      when lock_not_available or foreign_key_violation or cardinality_violation then
        null;
    end;
  end if;
  -- Pairs are compared: an id with another row's token finishes nothing.
  v_ids := array(
    select t.id from %1$s t
    where t.id = any ($1) and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
      and ((t.id, t.run_token) in (select u.id, u.token from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (id, token))) is true
    order by t.id for no key update skip locked);
  if this.v_storage = interval '0' then
    begin
      with gone as (delete from %1$s t where t.id = any (this.v_ids) returning t.id)
      select pg_catalog.array_agg(g.id) into this.v_done from gone g;
      perform tasks.check_deferred(%3$s::pg_catalog.regclass);
    exception
      when foreign_key_violation then
        -- What a foreign key holds is finished all the same; clean deletes it once it is free.
        v_done := '{}';
        foreach v_one in array this.v_ids loop
          begin
            delete from %1$s t where t.id = this.v_one;
            get diagnostics v_count = row_count;
            perform tasks.check_deferred(%3$s::pg_catalog.regclass);
          exception
            when foreign_key_violation then
              update %1$s t set finished_at = tasks.clock() where t.id = this.v_one;
              get diagnostics v_count = row_count;
          end;
          if this.v_count > 0 then
            v_done := this.v_done || this.v_one;
          end if;
        end loop;
    end;
  else
    with done as (update %1$s t set finished_at = tasks.clock() where t.id = any (this.v_ids) returning t.id, t.finished_at)
    select pg_catalog.array_agg(d.id) into this.v_done from done d where d.finished_at is not null;
  end if;
  v_done := coalesce(this.v_done, '{}');
  if pg_catalog.cardinality(this.v_done) < pg_catalog.cardinality(this.v_ids) then
    v_one := (select u.id from pg_catalog.unnest(this.v_ids) u (id) where u.id <> all (this.v_done) order by u.id limit 1);
    perform tasks.refuse_outcome(%3$s, 'finish_many', this.v_one, null);
  end if;
  if pg_catalog.cardinality(this.v_done) = pg_catalog.cardinality($1) then
    return;
  end if;
  return query
    select u.id,
      case
        when t.id is null then 'missing'
        when t.run_token is distinct from u.token then 'stale'
        when t.finished_at is not null then 'finished'
        when tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled) then 'locked'
        else 'stale'
      end
    from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (id, token)
    left join lateral (select s.* from %1$s s where s.id = u.id offset 0) t on true
    where (u.id = any (this.v_done) and (t.id is null or t.run_token is not distinct from u.token)) is not true;
end
$body$)
$source$;
comment on function tasks.source_of_finish_many(text, text) is
  'Source of finish_many: finishes runs given as pairs of id and token; returns a row for each that it did not finish: finished (before), missing, stale or locked';

create function tasks.source_of_retry(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('retry', p_table, p_name, $head$
create or replace function tasks.%2$s(
  task_id bigint, planned_to pg_catalog.timestamptz default null, comment pg_catalog.text default null,
  run_token pg_catalog.uuid default null, delay interval default null, error pg_catalog.text default null,
  reason pg_catalog.text default 'error', options pg_catalog.jsonb default null
) returns pg_catalog.text
language plpgsql volatile
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
$head$, $body$
#variable_conflict use_column
<<this>>
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
    -- A follow-up that was not committed when the trigger looked (0018) is there when the index has waited for it.
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
  select tasks.verb_source('release', p_table, p_name, $head$
create or replace function tasks.%2$s(task_id bigint, run_token pg_catalog.uuid, options pg_catalog.jsonb default null) returns boolean
language plpgsql volatile
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
$head$, $body$
#variable_conflict use_column
<<this>>
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

create function tasks.source_of_cancel(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('cancel', p_table, p_name, $head$
create or replace function tasks.%2$s(
  task_id bigint, planned_to pg_catalog.timestamptz default null, comment pg_catalog.text default null,
  run_token pg_catalog.uuid default null, options pg_catalog.jsonb default null
) returns pg_catalog.text
language plpgsql volatile
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
$head$, $body$
#variable_conflict use_column
<<this>>
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
  select tasks.verb_source('reset', p_table, p_name, $head$
create or replace function tasks.%2$s(task_id bigint, options pg_catalog.jsonb default null) returns pg_catalog.text
language plpgsql volatile
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
$head$, $body$
#variable_conflict use_column
<<this>>
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
