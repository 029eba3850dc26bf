-- 0017_create_scheduler: what the scheduler of a worker calls, and trigger and backfill.
--
-- Flow: due_schedules -> (the worker computes) -> plan_schedule for unplanned ones, fire_schedule for due ones, in one short
-- transaction. A schedule whose task can't be enqueued is set aside with its error, one that fails for a reason that may pass
-- stays due; either way the others of the pass go on.
-- Lock order: as in 0015; due_schedules skips what another scheduler holds. A trigger by hand only keeps its schedule from
-- being removed, so that an open transaction of a user's doesn't hold it up.

begin isolation level read committed;
select tasks.start_migration(17, 'create_scheduler');

create function tasks.due_schedules(p_limit integer default 60, p_except text[] default '{}') returns table (schedule tasks.schedules, now timestamptz)
language plpgsql volatile
as $$
declare
  v_now   timestamptz := pg_catalog.date_trunc('milliseconds', tasks.clock(), 'UTC');
  v_due   tasks.schedules[];
  v_newer tasks.schedules[];
begin
  -- For the rest of the transaction: nothing that a user's table makes it wait for, and no scheduler that is suspended or cut
  -- off while it holds them, may silence schedules.
  perform pg_catalog.set_config('lock_timeout', '200ms', true), pg_catalog.set_config('statement_timeout', '5s', true),
    pg_catalog.set_config('idle_in_transaction_session_timeout', '5s', true);
  return query
    select s, v_now from tasks.schedules s
    where s.paused_at is null and not s.planned and s.key <> all (p_except)
      and pg_catalog.has_table_privilege(s.table_id, 'INSERT') is not false
    order by s.key limit p_limit for no key update skip locked;
  -- A tenth from the other end: many long backlogs must not keep what has just become due waiting.
  v_due := array(
    select s from tasks.schedules s
    where s.paused_at is null and s.next_at <= v_now and s.key <> all (p_except)
      and pg_catalog.has_table_privilege(s.table_id, 'INSERT') is not false
    order by s.next_at limit p_limit - p_limit / 10 for no key update skip locked);
  if pg_catalog.cardinality(v_due) = p_limit - p_limit / 10 then
    v_newer := array(
      select s from tasks.schedules s
      where s.paused_at is null and s.next_at <= v_now and s.key <> all (p_except)
        and s.key not in (select (d).key from pg_catalog.unnest(v_due) d)
        and pg_catalog.has_table_privilege(s.table_id, 'INSERT') is not false
      order by s.next_at desc limit p_limit / 10 for no key update skip locked);
  end if;
  return query select d, v_now from pg_catalog.unnest(v_due || v_newer) d;
end
$$;
comment on function tasks.due_schedules(integer, text[]) is
  'Locks and returns the schedules that are unplanned or due, but for some, with the instant by which they are judged';

create function tasks.set_schedule_aside(p_key text, p_revision integer, p_reason text, p_error text, p_tzdata text default null) returns boolean
language plpgsql volatile
as $$
begin
  -- Planned or not and next_at are left as they are, so that a resume with catch_up loses nothing.
  update tasks.schedules s set
    paused_at = coalesce(s.paused_at, tasks.clock()), paused_reason = p_reason, last_error = p_error, tzdata = coalesce(p_tzdata, s.tzdata)
  where s.key = p_key and s.revision = p_revision;
  return found;
end
$$;
comment on function tasks.set_schedule_aside(text, integer, text, text, text) is 'Pauses a schedule that can''t be planned or enqueued, with the error; false when it was changed meanwhile';

create function tasks.plan_schedule(p_key text, p_revision integer, p_next_at timestamptz, p_tzdata text, p_error text default null) returns boolean
language plpgsql volatile
as $$
begin
  if p_error is not null then
    return tasks.set_schedule_aside(p_key, p_revision, 'it can''t be planned', p_error, p_tzdata);
  end if;
  update tasks.schedules s set planned = true, next_at = p_next_at, tzdata = p_tzdata
  where s.key = p_key and s.revision = p_revision;
  return found;
end
$$;
comment on function tasks.plan_schedule(text, integer, timestamptz, text, text) is
  'Stores the next occurrence that was computed for a revision, or why none can be: then the schedule is set aside; false when it was changed meanwhile';

-- Looks at the watched tasks by their ids, so the size of the task table doesn't matter, and stops watching those that ended.
create function tasks.is_overlapping(p_schedule tasks.schedules) returns boolean
language plpgsql volatile
as $$
declare
  v_watched record;
  v_state   text;
begin
  for v_watched in
    select o.occurrence_at, o.task_id, tasks.quoted(o.table_id) as table_name from tasks.occurrences o
    where o.schedule_key = p_schedule.key and o.watched
  loop
    v_state := null;
    if v_watched.table_name is not null then
      execute pg_catalog.format(
        'select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, $2) from %s t where t.id = $1', v_watched.table_name)
      into v_state using v_watched.task_id, tasks.clock();
    end if;
    if v_state in ('scheduled', 'ready') or v_state = 'running' and p_schedule.overlap = 'skip' then
      return true;
    elsif v_state is distinct from 'running' then
      update tasks.occurrences o set watched = false
      where o.schedule_key = p_schedule.key and o.occurrence_at = v_watched.occurrence_at;
    end if;
  end loop;
  return false;
end
$$;
comment on function tasks.is_overlapping(tasks.schedules) is 'Whether a task of the schedule is unfinished (skip), or one waits (buffer_one)';

create function tasks.enqueue_occurrences(
  p_schedule tasks.schedules, p_occurrences timestamptz[], p_triggers text[], p_request_id text default null
) returns bigint[]
language plpgsql volatile
as $$
declare
  v_asked    boolean := p_schedule.overlap <> 'allow' and p_triggers && array['schedule', 'catchup'];
  v_new      timestamptz[];
  v_triggers text[];
  v_ids      bigint[];
begin
  if pg_catalog.cardinality(p_occurrences) = 0 then
    return null;
  end if;
  with new as (
    insert into tasks.occurrences as o (schedule_key, occurrence_at, trigger, revision, outcome, table_id, request_id, watched)
    select p_schedule.key, w.occurrence_at, w.trigger, p_schedule.revision, case when v_asked then 'skipped_overlap' else 'enqueued' end,
      p_schedule.table_id, p_request_id, not v_asked and p_schedule.overlap <> 'allow'
    from rows from (pg_catalog.unnest(p_occurrences), pg_catalog.unnest(p_triggers)) w(occurrence_at, trigger)
    order by w.occurrence_at
    on conflict do nothing
    returning o.occurrence_at, o.trigger
  )
  select pg_catalog.array_agg(n.occurrence_at order by n.occurrence_at), pg_catalog.array_agg(n.trigger order by n.occurrence_at)
  into v_new, v_triggers from new n;
  if v_new is null then
    return null;
  end if;
  if v_asked then
    if tasks.is_overlapping(p_schedule) then
      return null;
    end if;
    -- The first one is what the others overlap with.
    v_new := v_new[1:1];
    v_triggers := v_triggers[1:1];
    update tasks.occurrences o set outcome = 'enqueued', watched = true
    where o.schedule_key = p_schedule.key and o.occurrence_at = v_new[1];
  end if;
  -- Nobody would run them. A table that is gone says so below.
  if tasks.quoted(p_schedule.table_id) is not null and not exists (select from tasks.types y where y.table_id = p_schedule.table_id) then
    perform tasks.refuse_type('schedule', tasks.quoted(p_schedule.table_id));
  end if;
  -- By hand means now; the place in the queue of an occurrence long past would be before everything else.
  execute 'with new as (' || tasks.source_of_enqueue(p_schedule.table_id, p_schedule.columns) || '), noted as (
      update tasks.occurrences o set task_id = new.id from new
      where o.schedule_key = $1 and o.occurrence_at = new.occurrence_at returning o.occurrence_at, o.task_id
    )
    select coalesce(pg_catalog.array_agg(n.task_id order by n.occurrence_at), ''{}'') from noted n'
  into v_ids
  using p_schedule.key,
    array(
      select case when w.trigger in ('manual', 'backfill') then greatest(j.planned_to, tasks.clock()) else j.planned_to end
      from rows from (pg_catalog.unnest(v_new), pg_catalog.unnest(v_triggers)) with ordinality w(occurrence_at, trigger, n)
      cross join lateral (select w.occurrence_at + tasks.jitter_of(p_schedule.key, w.occurrence_at, p_schedule.jitter) as planned_to) j
      order by w.n),
    v_new, v_triggers, p_schedule.columns;
  if pg_catalog.cardinality(v_ids) < pg_catalog.cardinality(v_new) then
    update tasks.occurrences o set outcome = 'not_taken', watched = false
    where o.schedule_key = p_schedule.key and o.occurrence_at = any (v_new) and o.task_id is null;
  end if;
  return v_ids;
end
$$;
comment on function tasks.enqueue_occurrences(tasks.schedules, timestamptz[], text[], text) is
  'Writes occurrences into the ledger and enqueues their tasks; the ids of those that weren''t there yet, NULL when there were none or they are skipped for overlap';

create function tasks.fire_schedule(
  p_key text, p_revision integer, p_expected timestamptz, p_next_at timestamptz, p_occurrences timestamptz[], p_triggers text[],
  p_dropped bigint, p_tzdata text, out outcome text, out enqueued integer, out error text
) returns record
language plpgsql volatile
as $$
declare
  v_schedule tasks.schedules;
begin
  enqueued := 0;
  if pg_catalog.clock_timestamp() > pg_catalog.statement_timestamp() + interval '2 s' then
    outcome := 'left';
    return;
  end if;
  begin
    update tasks.schedules s set
      next_at = p_next_at, last_at = coalesce(p_occurrences[pg_catalog.cardinality(p_occurrences)], s.last_at),
      runs = s.runs + pg_catalog.cardinality(p_occurrences), dropped = s.dropped + p_dropped, tzdata = p_tzdata, last_error = null
    where s.key = p_key and s.revision = p_revision and s.next_at = p_expected and s.planned and s.paused_at is null
      and p_expected <= tasks.clock()
    returning s.* into v_schedule;
    if not found then
      outcome := 'overtaken';
      return;
    end if;
    if v_schedule.table_id::pg_catalog.oid::text = pg_catalog.current_setting('pg_tasks.locked_table', true) then
      raise lock_not_available using message = pg_catalog.format('%s is locked', tasks.quoted(v_schedule.table_id));
    end if;
    enqueued := coalesce(pg_catalog.cardinality(tasks.enqueue_occurrences(v_schedule, p_occurrences, p_triggers)), 0);
    -- A deferred constraint would fail the commit, and with it the whole pass.
    set constraints all immediate;
    outcome := 'fired';
  exception
    -- What may pass: the schedule stays due. 08: a foreign server; 40: a deadlock; 53, 58: the server; 55: locked.
    when transaction_rollback or insufficient_resources or system_error or connection_exception or lock_not_available or object_in_use then
      outcome := 'failed';
      enqueued := 0;
      error := sqlerrm;
      if sqlstate = '55P03' then
        -- The other schedules of this table needn't wait for it too.
        perform pg_catalog.set_config('pg_tasks.locked_table', v_schedule.table_id::pg_catalog.oid::text, true);
      end if;
      update tasks.schedules s set last_error = fire_schedule.error where s.key = p_key and s.revision = p_revision;
    when operator_intervention then
      raise;
    when others then
      outcome := 'refused';
      enqueued := 0;
      error := sqlerrm;
      perform tasks.set_schedule_aside(p_key, p_revision, 'its task can''t be enqueued', error);
  end;
end
$$;
comment on function tasks.fire_schedule(text, integer, timestamptz, timestamptz, timestamptz[], text[], bigint, text) is
  'Moves a schedule''s watermark and enqueues the occurrences, once whoever calls. Outcome: fired; overtaken: the call came too late; left: there was no time; failed: to be tried again; refused: set aside';

create function tasks.next_schedule_in(p_except text[] default '{}') returns double precision
language sql volatile
as $$
  select case
    when exists (
      select from tasks.schedules s
      where s.paused_at is null and not s.planned and s.key <> all (p_except) and pg_catalog.has_table_privilege(s.table_id, 'INSERT') is not false) then 0
    else (
      select greatest(0, 1000 * pg_catalog.date_part('epoch', s.next_at - tasks.clock())) from tasks.schedules s
      where s.paused_at is null and s.next_at is not null and s.key <> all (p_except) and pg_catalog.has_table_privilege(s.table_id, 'INSERT') is not false
      order by s.next_at limit 1)
  end
$$;
comment on function tasks.next_schedule_in(text[]) is 'Milliseconds until a schedule is due, but for some; 0 when one is unplanned; NULL when there is none';

-- Newer rules win: two workers with different ones, as in a rolling update, don't undo each other's plans.
create function tasks.stale_schedules(p_tzdata text, p_limit integer default 1000) returns table (schedule tasks.schedules, now timestamptz)
language sql volatile
as $$
  select s, pg_catalog.date_trunc('milliseconds', tasks.clock(), 'UTC') from tasks.schedules s
  where s.cron is not null and s.timezone <> 'UTC' and s.planned and s.next_at > tasks.clock()
    and (s.tzdata is null or s.tzdata < p_tzdata collate "C")
    and pg_catalog.has_table_privilege(s.table_id, 'INSERT') is not false
  order by s.key limit p_limit for no key update skip locked
$$;
comment on function tasks.stale_schedules(text, integer) is 'Locks and returns the cron schedules whose next occurrence is ahead and was computed by older zone rules';

create function tasks.trigger_schedule(key text, request_id text default null) returns bigint
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_schedule tasks.schedules;
  v_ids      bigint[];
begin
  select s.* into v_schedule from tasks.schedules s where s.key = $1 for key share;
  if not found then
    perform tasks.refuse('TQ009', pg_catalog.format('trigger_schedule: there is no schedule %s', coalesce(pg_catalog.quote_literal($1), 'NULL')));
  end if;
  loop
    if $2 is not null then
      select array[o.task_id] into v_ids from tasks.occurrences o where o.schedule_key = $1 and o.request_id = $2;
    end if;
    -- With microseconds, so that it never takes the place of a nominal occurrence; another one, if a trigger took this.
    v_ids := coalesce(v_ids, tasks.enqueue_occurrences(v_schedule,
      array[pg_catalog.date_trunc('milliseconds', tasks.clock(), 'UTC') + interval '1 us' * (1 + pg_catalog.floor(999 * pg_catalog.random()))],
      array['manual'], $2));
    exit when v_ids is not null;
  end loop;
  return v_ids[1];
end
$$;
comment on function tasks.trigger_schedule(text, text) is
  'Enqueues a task of the schedule now, beside its occurrences; with the same request_id once. Returns the task''s id; NULL when the table took none, because its like waits';

create function tasks.backfill_schedule(key text, occurrences timestamptz[]) returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_schedule    tasks.schedules := tasks.find_schedule('backfill_schedule', $1);
  v_occurrences timestamptz[];
begin
  if $2 is null or exists (select from pg_catalog.unnest($2) o where o is null or not pg_catalog.isfinite(o)) then
    perform tasks.refuse('TQ003', 'backfill_schedule: occurrences must not be NULL or infinite');
  end if;
  -- Through the ledger's key: only holes are filled.
  v_occurrences := array(select distinct pg_catalog.date_trunc('milliseconds', o, 'UTC') as at from pg_catalog.unnest($2) o order by at);
  return coalesce(pg_catalog.cardinality(tasks.enqueue_occurrences(v_schedule, v_occurrences, pg_catalog.array_fill('backfill'::text, array[pg_catalog.cardinality(v_occurrences)]))), 0);
end
$$;
comment on function tasks.backfill_schedule(text, timestamptz[]) is
  'Enqueues those of the given occurrences that are not in the ledger, whatever the overlap rule says; returns how many';

commit;
