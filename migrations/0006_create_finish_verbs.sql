-- 0006_create_finish_verbs: sources of finish and finish_many.
--
-- Flow: as in 0003. Conditions on the state go through tasks.is_running, so that no by-id statement is planned on a partial
-- index.
-- Where a finish deletes, it says so to the triggers that count ends (0024, 0025): else they take the row for one that somebody
-- deleted unfinished.
-- Fencing: with a token, the row must be running with it; without one, finish still requires that it is running.
-- Lock order: finish waits for its one task row. finish_many locks its rows in id order and skips locked ones; at first it
-- tries all at once, and waits for none longer than 10 ms.

begin isolation level read committed;
select tasks.start_migration(6, 'create_finish_verbs');

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

create function tasks.source_of_finish(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('finish', p_table, p_name, $signature$(
  task_id bigint, started_at pg_catalog.timestamptz default null, comment pg_catalog.text default null,
  run_token pg_catalog.uuid default null, options pg_catalog.jsonb default null
) returns pg_catalog.text$signature$, $body$
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
    v_set := pg_catalog.set_config('pg_tasks.finishing', %3$s::pg_catalog.regclass::pg_catalog.oid::pg_catalog.text, true);
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
    v_set := pg_catalog.set_config('pg_tasks.finishing', '', true);
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
  select tasks.verb_source('finish_many', p_table, p_name, $signature$(task_ids bigint[], run_tokens pg_catalog.uuid[], options pg_catalog.jsonb default null)
returns table (task_id bigint, outcome pg_catalog.text)$signature$, $body$
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
        v_set := pg_catalog.set_config('pg_tasks.finishing', %3$s::pg_catalog.regclass::pg_catalog.oid::pg_catalog.text, true);
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
          v_set := pg_catalog.set_config('pg_tasks.finishing', '', true);
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
    v_set := pg_catalog.set_config('pg_tasks.finishing', %3$s::pg_catalog.regclass::pg_catalog.oid::pg_catalog.text, true);
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
    v_set := pg_catalog.set_config('pg_tasks.finishing', '', true);
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

commit;
