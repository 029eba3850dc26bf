-- 0016_create_schedule_verbs: schedule, unschedule, pause_schedule, resume_schedule, remove_undeclared_schedules.
--
-- Flow and lock order: as in 0015.

begin isolation level read committed;
select tasks.start_migration(16, 'create_schedule_verbs');

create function tasks.schedule(
  key text,
  schema_name text,
  table_name text,
  cron text default null,
  every interval default null,
  columns jsonb default '{}',
  timezone text default 'UTC',
  catch_up text default 'latest',
  catch_up_window interval default '1 hour',
  grace interval default '60 s',
  overlap text default 'allow',
  jitter interval default '0',
  anchor timestamptz default null,
  starts_at timestamptz default null,
  ends_at timestamptz default null,
  max_runs integer default null,
  origin text default 'api',
  options jsonb default null
) returns text
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type  tasks.types := tasks.find_type($2, $3);
  v_new   tasks.schedules;
  v_old   tasks.schedules;
  v_now   timestamptz := tasks.clock();
  v_aside boolean;
begin
  if v_type.table_id is null then
    perform tasks.refuse('TQ004', pg_catalog.format('schedule: %I.%I is not registered', $2, $3), 'Call tasks.register(schema, table).');
  end if;
  v_new.key := $1;
  v_new.table_id := v_type.table_id;
  v_new.cron := $4;
  v_new.every := tasks.elapsed($5);
  v_new.columns := coalesce($6, '{}');
  v_new.timezone := $7;
  v_new.catch_up := $8;
  v_new.catch_up_window := tasks.elapsed($9);
  v_new.grace := tasks.elapsed($10);
  v_new.overlap := $11;
  v_new.jitter := tasks.elapsed($12);
  -- Workers know milliseconds only.
  v_new.anchor := pg_catalog.date_trunc('milliseconds', $13, 'UTC');
  v_new.starts_at := pg_catalog.date_trunc('milliseconds', $14, 'UTC');
  v_new.ends_at := pg_catalog.date_trunc('milliseconds', $15, 'UTC');
  v_new.max_runs := $16;
  v_new.origin := coalesce($17, 'api');
  perform tasks.check_schedule(v_new);
  perform tasks.check_schedule_columns(v_new.table_id, v_new.columns);

  -- Two upserts of one key one after the other, also where it is new.
  perform pg_catalog.pg_advisory_xact_lock(1886415984, pg_catalog.hashtext($1));
  select s.* into v_old from tasks.schedules s where s.key = $1 for no key update;
  v_aside := v_old.paused_at is not null and v_old.last_error is not null;
  if v_new.every is not null and v_new.anchor is null then
    -- Not given: where it starts, else the one that it has, else now.
    v_new.anchor := coalesce(v_new.starts_at, case when v_old.every = v_new.every then v_old.anchor end, pg_catalog.date_trunc('milliseconds', v_now, 'UTC'));
  end if;

  if v_old.key is not null
    and (v_old.cron, v_old.every, v_old.anchor, v_old.timezone, v_old.starts_at, v_old.ends_at, v_old.max_runs)
      is not distinct from (v_new.cron, v_new.every, v_new.anchor, v_new.timezone, v_new.starts_at, v_new.ends_at, v_new.max_runs)
  then
    -- When it is due hasn't changed, so neither has next_at: a deploy that says the same again moves nothing.
    if (v_old.table_id, v_old.columns, v_old.catch_up, v_old.catch_up_window, v_old.grace, v_old.overlap, v_old.jitter, v_old.origin)
      is not distinct from (v_new.table_id, v_new.columns, v_new.catch_up, v_new.catch_up_window, v_new.grace, v_new.overlap, v_new.jitter, v_new.origin)
    then
      return tasks.schedule_state(v_old);
    end if;
    update tasks.schedules s set
      table_id = v_new.table_id, columns = v_new.columns, catch_up = v_new.catch_up, catch_up_window = v_new.catch_up_window,
      grace = v_new.grace, overlap = v_new.overlap, jitter = v_new.jitter, origin = v_new.origin, last_error = null,
      -- What a scheduler set aside gets another try; what somebody paused stays paused.
      paused_at = case when not v_aside then s.paused_at end, paused_reason = case when not v_aside then s.paused_reason end,
      updated_at = v_now
    where s.key = $1
    returning s.* into v_new;
  else
    -- New, or due at other times: from now on, never in the past.
    v_new.planned := v_new.every is not null;
    if v_new.planned then
      v_new.next_at := tasks.next_on_grid(v_new.every, v_new.anchor, greatest(v_now, v_new.starts_at - interval '1 ms'));
      v_new.next_at := case when v_new.ends_at is null or v_new.next_at <= v_new.ends_at then v_new.next_at end;
    end if;
    insert into tasks.schedules as s (key, table_id, columns, cron, every, anchor, timezone, catch_up, catch_up_window, grace, overlap, jitter,
      starts_at, ends_at, max_runs, origin, planned, plan_after, next_at, created_at, updated_at)
    values ($1, v_new.table_id, v_new.columns, v_new.cron, v_new.every, v_new.anchor, v_new.timezone, v_new.catch_up, v_new.catch_up_window,
      v_new.grace, v_new.overlap, v_new.jitter, v_new.starts_at, v_new.ends_at, v_new.max_runs, v_new.origin, v_new.planned, v_now, v_new.next_at, v_now, v_now)
    on conflict on constraint schedules_pkey do update set
      table_id = excluded.table_id, columns = excluded.columns, cron = excluded.cron, every = excluded.every, anchor = excluded.anchor,
      timezone = excluded.timezone, catch_up = excluded.catch_up, catch_up_window = excluded.catch_up_window, grace = excluded.grace,
      overlap = excluded.overlap, jitter = excluded.jitter, starts_at = excluded.starts_at, ends_at = excluded.ends_at,
      max_runs = excluded.max_runs, origin = excluded.origin, planned = excluded.planned, plan_after = excluded.plan_after,
      next_at = excluded.next_at, revision = s.revision + 1, runs = 0, last_error = null, tzdata = null, updated_at = excluded.updated_at,
      paused_at = case when not v_aside then s.paused_at end, paused_reason = case when not v_aside then s.paused_reason end
    returning s.* into v_new;
  end if;
  if coalesce(v_old.overlap, 'allow') = 'allow' and v_new.overlap <> 'allow' then
    -- Its unfinished tasks count from now on; the first look finds out which of them have ended.
    update tasks.occurrences o set watched = true
    where (o.schedule_key, o.occurrence_at) in (
      select n.schedule_key, n.occurrence_at from tasks.occurrences n
      where n.schedule_key = $1 and n.outcome = 'enqueued' order by n.occurrence_at desc limit 1000);
  elsif v_new.overlap = 'allow' then
    perform tasks.stop_watching($1);
  end if;
  perform pg_catalog.pg_notify('pg_tasks_control', 'schedules');
  return tasks.schedule_state(v_new);
end
$$;
comment on function tasks.schedule(text, text, text, text, interval, jsonb, text, text, interval, interval, text, interval, timestamptz, timestamptz, timestamptz, integer, text, jsonb) is
  'Writes a schedule, or brings it up to date; what is due at the same times as before keeps its place. Returns its state';

-- What is watched isn't cleaned.
create function tasks.stop_watching(p_key text) returns void
language sql volatile
as 'update tasks.occurrences o set watched = false where o.schedule_key = p_key and o.watched';
comment on function tasks.stop_watching(text) is 'The tasks of a schedule no longer count for overlap';

create function tasks.find_schedule(p_verb text, p_key text) returns tasks.schedules
language plpgsql volatile
as $$
declare
  v_schedule tasks.schedules;
begin
  select s.* into v_schedule from tasks.schedules s where s.key = p_key for no key update;
  if not found then
    perform tasks.refuse('TQ009', pg_catalog.format('%s: there is no schedule %s', p_verb, coalesce(pg_catalog.quote_literal(p_key), 'NULL')));
  end if;
  return v_schedule;
end
$$;
comment on function tasks.find_schedule(text, text) is 'Locks and returns a schedule, or raises that there is none';

create function tasks.unschedule(key text) returns boolean
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  delete from tasks.schedules s where s.key = $1;
  if not found then
    return false;
  end if;
  perform tasks.stop_watching($1);
  return true;
end
$$;
comment on function tasks.unschedule(text) is 'Removes a schedule; its tasks stay; false when there was none';

create function tasks.remove_undeclared_schedules(declared text[], key_prefix text default '') returns setof text
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_key text;
begin
  if $1 is null or $2 is null then
    perform tasks.refuse('TQ003', 'remove_undeclared_schedules: declared and key_prefix must not be NULL');
  end if;
  for v_key in
    select s.key from tasks.schedules s
    where s.origin = 'code' and s.key <> all ($1) and pg_catalog.starts_with(s.key, $2) order by s.key
  loop
    if tasks.unschedule(v_key) then
      return next v_key;
    end if;
  end loop;
end
$$;
comment on function tasks.remove_undeclared_schedules(text[], text) is
  'Removes schedules that workers declared, whose key begins with key_prefix and is not among the declared ones; returns their keys';

create function tasks.pause_schedule(key text, reason text default null) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  perform tasks.find_schedule('pause_schedule', $1);
  -- One that was set aside stays so, with its error.
  update tasks.schedules s set paused_at = tasks.clock(), paused_reason = $2, last_error = null where s.key = $1 and s.paused_at is null;
end
$$;
comment on function tasks.pause_schedule(text, text) is 'A paused schedule enqueues nothing until it is resumed';

create function tasks.resume_schedule(key text, catch_up boolean default false) returns text
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_schedule tasks.schedules := tasks.find_schedule('resume_schedule', $1);
  v_now      timestamptz := tasks.clock();
begin
  if v_schedule.paused_at is null then
    return tasks.schedule_state(v_schedule);
  end if;
  if not coalesce($2, false) then
    -- From now on: what fell into the pause is passed over.
    if not v_schedule.planned or v_schedule.next_at <= v_now and v_schedule.cron is not null then
      v_schedule.planned := false;
      v_schedule.plan_after := v_now;
      v_schedule.next_at := null;
    elsif v_schedule.next_at <= v_now then
      v_schedule.next_at := tasks.next_on_grid(v_schedule.every, v_schedule.anchor, v_now);
      v_schedule.next_at := case when v_schedule.ends_at is null or v_schedule.next_at <= v_schedule.ends_at then v_schedule.next_at end;
    end if;
  end if;
  update tasks.schedules s set
    paused_at = null, paused_reason = null, last_error = null,
    planned = v_schedule.planned, plan_after = v_schedule.plan_after, next_at = v_schedule.next_at
  where s.key = $1
  returning s.* into v_schedule;
  perform pg_catalog.pg_notify('pg_tasks_control', 'schedules');
  return tasks.schedule_state(v_schedule);
end
$$;
comment on function tasks.resume_schedule(text, boolean) is
  'Resumes a paused schedule, from now on, or with catch_up as if it had been missed. Returns its state';

create view tasks.schedule_stats as
select s.key, tasks.quoted(s.table_id) as table_name, tasks.schedule_state(s) as state, s.next_at,
  case when s.paused_at is null and s.next_at <= tasks.clock() then tasks.clock() - s.next_at end as overdue,
  s.last_at, o.created_at - o.occurrence_at as lag, s.runs, s.dropped, s.paused_reason, s.last_error
from tasks.schedules s
left join tasks.occurrences o on o.schedule_key = s.key and o.occurrence_at = s.last_at;
comment on view tasks.schedule_stats is 'How the schedules are doing';
comment on column tasks.schedule_stats.key is 'Name of the schedule';
comment on column tasks.schedule_stats.table_name is 'The task table; NULL: it is gone';
comment on column tasks.schedule_stats.state is 'active, unplanned, paused or finished';
comment on column tasks.schedule_stats.next_at is 'The earliest occurrence not handled yet';
comment on column tasks.schedule_stats.overdue is 'For how long it has been due: no worker runs, or it is far behind; NULL: it isn''t';
comment on column tasks.schedule_stats.last_at is 'The last occurrence that was handled';
comment on column tasks.schedule_stats.lag is 'How late the last occurrence was handled';
comment on column tasks.schedule_stats.runs is 'Occurrences handed over since it was changed';
comment on column tasks.schedule_stats.dropped is 'Missed occurrences that were passed over, at least';
comment on column tasks.schedule_stats.paused_reason is 'Why it was paused';
comment on column tasks.schedule_stats.last_error is 'Why it could not be planned or enqueued; while paused: why it was set aside';

commit;
