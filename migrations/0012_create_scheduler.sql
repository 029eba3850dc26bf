-- 0012_create_scheduler: what the scheduler of a worker calls, and trigger and backfill.
--
-- Flow: due_schedules → (the worker computes) → plan_schedule for unplanned ones, fire_schedule for due ones, in one short
-- transaction. A schedule whose task can't be enqueued is set aside with its error; the others of the pass go on.
-- Lock order: as in 0011; due_schedules skips what another scheduler holds.

begin isolation level read committed;
select tasks.start_migration(12, 'create_scheduler');

create function tasks.due_schedules(p_limit integer default 100) returns table (schedule tasks.schedules, now timestamptz)
language plpgsql volatile
as $$
declare
  v_now timestamptz := pg_catalog.date_trunc('milliseconds', tasks.clock(), 'UTC');
begin
  return query
    select s, v_now from tasks.schedules s
    where s.paused_at is null and not s.planned
    order by s.key limit p_limit for update skip locked;
  return query
    select s, v_now from tasks.schedules s
    where s.paused_at is null and s.next_at <= v_now and s.planned
    order by s.next_at limit p_limit for update skip locked;
end
$$;
comment on function tasks.due_schedules(integer) is 'Locks and returns the schedules that are unplanned or due, with the instant by which they are judged';

create function tasks.plan_schedule(p_key text, p_revision integer, p_next_at timestamptz, p_tzdata text, p_error text default null) returns boolean
language plpgsql volatile
as $$
begin
  update tasks.schedules s set
    planned = p_error is null, next_at = p_next_at, tzdata = p_tzdata, last_error = p_error,
    paused_at = case when p_error is null then s.paused_at else tasks.clock() end,
    paused_reason = case when p_error is null then s.paused_reason else 'it can''t be planned' end
  where s.key = p_key and s.revision = p_revision and s.paused_at is null;
  return found;
end
$$;
comment on function tasks.plan_schedule(text, integer, timestamptz, text, text) is
  'Stores the first occurrence that was computed for a revision, or why none can be: then the schedule is paused; false when it was changed meanwhile';

-- Inserts the task of one occurrence; NULL when the ledger has the occurrence, or the overlap rule passes it over.
create function tasks.enqueue_occurrence(p_schedule tasks.schedules, p_occurrence_at timestamptz, p_trigger text, p_request_id text) returns bigint
language plpgsql volatile
as $$
declare
  v_outcome text := 'enqueued';
  v_busy    boolean;
  v_waiting boolean;
  v_columns text;
  v_task_id bigint;
begin
  if p_trigger <> 'manual' and p_schedule.overlap <> 'allow' then
    select o.busy, o.waiting into v_busy, v_waiting from tasks.watch_overlap(p_schedule) o;
    if p_schedule.overlap = 'skip' and v_busy or p_schedule.overlap = 'buffer_one' and v_waiting then
      v_outcome := 'skipped_overlap';
    end if;
  end if;
  insert into tasks.occurrences as o (schedule_key, occurrence_at, trigger, revision, outcome, table_id, request_id, watched)
  values (p_schedule.key, p_occurrence_at, p_trigger, p_schedule.revision, v_outcome, p_schedule.table_id, p_request_id,
    v_outcome = 'enqueued' and p_schedule.overlap <> 'allow')
  on conflict do nothing;
  if not found or v_outcome <> 'enqueued' then
    return null;
  end if;
  select coalesce(pg_catalog.string_agg(pg_catalog.quote_ident(k), ', ' order by k), '') into v_columns
  from pg_catalog.jsonb_object_keys(p_schedule.columns) k;
  execute pg_catalog.format(
    'insert into %s (%s planned_to, schedule_key, occurrence_at, schedule_trigger)
     select %s $2, $3, $4, $5 from pg_catalog.jsonb_populate_record(null::%s, $1) r returning id',
    tasks.quoted(p_schedule.table_id), case when v_columns = '' then '' else v_columns || ',' end,
    case when v_columns = '' then '' else 'r.' || pg_catalog.replace(v_columns, ', ', ', r.') || ',' end,
    tasks.quoted(p_schedule.table_id))
  into v_task_id
  using p_schedule.columns, p_occurrence_at + tasks.jitter_of(p_schedule.key, p_occurrence_at, p_schedule.jitter),
    p_schedule.key, p_occurrence_at, p_trigger;
  update tasks.occurrences o set task_id = v_task_id where o.schedule_key = p_schedule.key and o.occurrence_at = p_occurrence_at;
  return v_task_id;
end
$$;
comment on function tasks.enqueue_occurrence(tasks.schedules, timestamptz, text, text) is
  'Writes an occurrence into the ledger and enqueues its task; NULL when it was there already or is skipped for overlap';

-- Looks at the watched tasks by their ids, so the size of the task table doesn't matter, and stops watching those that ended.
create function tasks.watch_overlap(p_schedule tasks.schedules, out busy boolean, out waiting boolean) returns record
language plpgsql volatile
as $$
declare
  v_watched record;
  v_state   text;
begin
  busy := false;
  waiting := false;
  for v_watched in
    select o.occurrence_at, o.table_id, o.task_id from tasks.occurrences o where o.schedule_key = p_schedule.key and o.watched
  loop
    v_state := null;
    if tasks.quoted(v_watched.table_id) is not null then
      execute pg_catalog.format(
        'select tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, $2) from %s t where t.id = $1',
        tasks.quoted(v_watched.table_id))
      into v_state using v_watched.task_id, tasks.clock();
    end if;
    if v_state in ('scheduled', 'ready', 'running') then
      busy := true;
      waiting := waiting or v_state <> 'running';
    else
      update tasks.occurrences o set watched = false
      where o.schedule_key = p_schedule.key and o.occurrence_at = v_watched.occurrence_at;
    end if;
  end loop;
end
$$;
comment on function tasks.watch_overlap(tasks.schedules) is 'Whether a task of the schedule is unfinished, and whether one waits';

create function tasks.fire_schedule(
  p_key text, p_revision integer, p_expected timestamptz, p_next_at timestamptz, p_occurrences timestamptz[], p_triggers text[],
  p_dropped bigint, p_tzdata text, out enqueued integer, out error text
) returns record
language plpgsql volatile
as $$
declare
  v_schedule tasks.schedules;
begin
  begin
    -- NULL: another scheduler was faster, or the schedule was changed, paused or removed since it was read.
    enqueued := null;
    update tasks.schedules s set
      next_at = p_next_at, last_at = coalesce(p_occurrences[pg_catalog.cardinality(p_occurrences)], s.last_at),
      runs = s.runs + pg_catalog.cardinality(p_occurrences), dropped = s.dropped + p_dropped, tzdata = p_tzdata, last_error = null
    where s.key = p_key and s.revision = p_revision and s.next_at = p_expected and s.planned and s.paused_at is null
      and p_expected <= tasks.clock()
    returning s.* into v_schedule;
    if not found then
      return;
    end if;
    enqueued := 0;
    for v_i in 1..pg_catalog.cardinality(p_occurrences) loop
      if tasks.enqueue_occurrence(v_schedule, p_occurrences[v_i], p_triggers[v_i], null) is not null then
        enqueued := enqueued + 1;
      end if;
    end loop;
  exception
    when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
      raise;
    when others then
      -- Nothing of it is enqueued and next_at is where it was, so that a resume with catch_up loses nothing.
      enqueued := 0;
      error := sqlerrm;
      update tasks.schedules s set
        paused_at = tasks.clock(), paused_reason = 'its task can''t be enqueued', last_error = sqlerrm
      where s.key = p_key;
  end;
end
$$;
comment on function tasks.fire_schedule(text, integer, timestamptz, timestamptz, timestamptz[], text[], bigint, text) is
  'Moves a schedule''s watermark and enqueues the occurrences, once whoever calls; NULL when the call came too late; an error of the insert pauses the schedule';

create function tasks.next_schedule_in() returns double precision
language sql volatile
as $$
  select case
    when exists (select from tasks.schedules s where s.paused_at is null and not s.planned) then 0
    else (
      select greatest(0, 1000 * pg_catalog.date_part('epoch', s.next_at - tasks.clock())) from tasks.schedules s
      where s.paused_at is null and s.next_at is not null order by s.next_at limit 1)
  end
$$;
comment on function tasks.next_schedule_in() is 'Milliseconds until a schedule is due; 0 when one is unplanned; NULL when there is none';

create function tasks.replan_schedules(p_tzdata text) returns table (schedule tasks.schedules, now timestamptz)
language sql volatile
as $$
  select s, pg_catalog.date_trunc('milliseconds', tasks.clock(), 'UTC') from tasks.schedules s
  where s.cron is not null and s.planned and s.next_at > tasks.clock() and s.tzdata is distinct from p_tzdata
  order by s.key for update skip locked
$$;
comment on function tasks.replan_schedules(text) is 'Locks and returns the cron schedules whose next occurrence was computed by other zone rules';

create function tasks.trigger_schedule(key text, request_id text default null) returns bigint
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_schedule tasks.schedules := tasks.find_schedule('trigger_schedule', $1);
  v_task_id  bigint;
begin
  if $2 is not null then
    select o.task_id into v_task_id from tasks.occurrences o where o.schedule_key = $1 and o.request_id = $2;
    if found then
      return v_task_id;
    end if;
  end if;
  -- Microseconds, so that it never takes the place of a nominal occurrence.
  return tasks.enqueue_occurrence(v_schedule, pg_catalog.date_trunc('milliseconds', tasks.clock(), 'UTC') + interval '1 us' * (1 + pg_catalog.floor(998 * pg_catalog.random())), 'manual', $2);
end
$$;
comment on function tasks.trigger_schedule(text, text) is
  'Enqueues a task of the schedule now, beside its occurrences; with the same request_id once. Returns the task''s id';

create function tasks.backfill_schedule(key text, occurrences timestamptz[]) returns integer
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_schedule   tasks.schedules := tasks.find_schedule('backfill_schedule', $1);
  v_occurrence timestamptz;
  v_count      integer := 0;
begin
  -- Through the ledger's key: only holes are filled.
  for v_occurrence in select o from pg_catalog.unnest($2) o order by o loop
    if tasks.enqueue_occurrence(v_schedule, v_occurrence, 'backfill', null) is not null then
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end
$$;
comment on function tasks.backfill_schedule(text, timestamptz[]) is 'Enqueues the given past occurrences that have not run; returns how many';

commit;
