-- 0015_create_schedules: schedules, the ledger of their occurrences, and the checks of both.
--
-- Flow: a schedule says when (cron in a zone, or a fixed grid) and what (typed columns of a task table). Any worker may run
-- the scheduler: it reads what is due, computes occurrences (cron is not computed in SQL), and calls fire_schedule, which
-- moves the watermark, writes the ledger and enqueues the tasks in one transaction.
-- Three guards make one occurrence one task, however many schedulers there are: the watermark next_at moves by
-- compare-and-set, the revision must be the one that was computed from, and the ledger's key is (schedule, occurrence).
-- A cron schedule that was written here is "unplanned" until a worker has computed its first occurrence, from the instant at
-- which it was written. A schedule that is paused and has a last_error was set aside by a scheduler.
-- Who may insert into the task table may see to its schedules (row security; the owner sees all).
-- Lock order: the key (advisory, class 1886415984; only tasks.schedule), the schedule's row, then ledger rows, then the new task
-- rows.

begin isolation level read committed;
select tasks.start_migration(15, 'create_schedules');

-- Each occurrence moves its schedule's entry in the index by next_at and leaves a dead one where the scheduler looks first.
create table tasks.schedules (
  key             text primary key,
  table_id        regclass not null,
  columns         jsonb not null default '{}',
  cron            text,
  every           interval,
  anchor          timestamptz,
  timezone        text not null default 'UTC',
  tzdata          text,
  catch_up        text not null default 'latest',
  catch_up_window interval not null default '1 hour',
  grace           interval not null default '60 s',
  overlap         text not null default 'allow',
  jitter          interval not null default '0',
  starts_at       timestamptz,
  ends_at         timestamptz,
  max_runs        integer,
  origin          text not null default 'api',
  revision        integer not null default 1,
  planned         boolean not null default false,
  plan_after      timestamptz not null default pg_catalog.clock_timestamp(),
  next_at         timestamptz,
  last_at         timestamptz,
  runs            bigint not null default 0,
  dropped         bigint not null default 0,
  paused_at       timestamptz,
  paused_reason   text,
  last_error      text,
  created_at      timestamptz not null default pg_catalog.now(),
  updated_at      timestamptz not null default pg_catalog.now(),
  constraint schedules_when check ((cron is null) <> (every is null)),
  constraint schedules_anchor check (every is null or anchor is not null),
  constraint schedules_catch_up check (catch_up in ('none', 'latest', 'all')),
  constraint schedules_overlap check (overlap in ('allow', 'skip', 'buffer_one')),
  constraint schedules_origin check (origin in ('code', 'api')),
  constraint schedules_planned check (planned or next_at is null),
  constraint schedules_next_at check (next_at = pg_catalog.date_trunc('milliseconds', next_at, 'UTC'))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table tasks.schedules is 'What is enqueued again and again; written by tasks.schedule and the scheduler of a worker';
comment on column tasks.schedules.key is 'Name of the schedule';
comment on column tasks.schedules.table_id is 'The task table that it enqueues to';
comment on column tasks.schedules.columns is 'Column values of its tasks, by name';
comment on column tasks.schedules.cron is 'Cron expression of five or six fields; NULL with every';
comment on column tasks.schedules.every is 'Interval of a fixed grid, as elapsed time; NULL with cron';
comment on column tasks.schedules.anchor is 'A point of the grid: due at anchor + k * every';
comment on column tasks.schedules.timezone is 'IANA zone of the cron expression';
comment on column tasks.schedules.tzdata is 'Version of the zone rules by which next_at was computed';
comment on column tasks.schedules.catch_up is 'What becomes of missed occurrences: none, latest or all';
comment on column tasks.schedules.catch_up_window is 'How far back missed occurrences are made up for';
comment on column tasks.schedules.grace is 'An occurrence handled less late than this was not missed';
comment on column tasks.schedules.overlap is 'While a task of the schedule is unfinished: allow another, skip it, or buffer_one that waits';
comment on column tasks.schedules.jitter is 'Each task is put off by up to this, the same for the same occurrence';
comment on column tasks.schedules.starts_at is 'No occurrence earlier; NULL: no limit';
comment on column tasks.schedules.ends_at is 'No occurrence later; NULL: no limit';
comment on column tasks.schedules.max_runs is 'Finished after so many occurrences; NULL: no limit';
comment on column tasks.schedules.origin is 'Who wrote it: code (a worker declares it) or api (somebody called tasks.schedule)';
comment on column tasks.schedules.revision is 'Counts changes of when it is due';
comment on column tasks.schedules.planned is 'Whether next_at was computed for this revision';
comment on column tasks.schedules.plan_after is 'While unplanned: its first occurrence is the first after this';
comment on column tasks.schedules.next_at is 'The watermark: the earliest occurrence not handled yet; NULL once planned: finished';
comment on column tasks.schedules.last_at is 'The last occurrence that was handled';
comment on column tasks.schedules.runs is 'Occurrences handed over since it was changed, counted against max_runs';
comment on column tasks.schedules.dropped is 'Missed occurrences that were passed over, at least: of one outage at most 500 are counted';
comment on column tasks.schedules.paused_at is 'When it was paused; NULL: it is not';
comment on column tasks.schedules.paused_reason is 'Why it was paused';
comment on column tasks.schedules.last_error is 'Why it could not be planned or enqueued; while paused: why it was set aside';
comment on column tasks.schedules.created_at is 'When it was first written';
comment on column tasks.schedules.updated_at is 'When it was last changed by a caller';

create index schedules_due_idx on tasks.schedules (next_at) where paused_at is null and next_at is not null;
create index schedules_unplanned_idx on tasks.schedules (key) where paused_at is null and not planned;

-- A worker with rights of its own takes only schedules whose tasks it may insert, and nobody can have tasks inserted by proxy.
alter table tasks.schedules enable row level security;
create policy schedules_of_readable_tables on tasks.schedules for select
  using (pg_catalog.has_table_privilege(table_id, 'SELECT'));
create policy schedules_of_insertable_tables on tasks.schedules for all
  using (pg_catalog.has_table_privilege(table_id, 'INSERT'));

create table tasks.occurrences (
  schedule_key  text not null,
  occurrence_at timestamptz not null,
  trigger       text not null,
  revision      integer not null,
  outcome       text not null,
  table_id      regclass not null,
  task_id       bigint,
  request_id    text,
  watched       boolean not null default false,
  created_at    timestamptz not null default tasks.clock(),
  primary key (schedule_key, occurrence_at),
  constraint occurrences_trigger check (trigger in ('schedule', 'catchup', 'backfill', 'manual')),
  constraint occurrences_outcome check (outcome in ('enqueued', 'skipped_overlap', 'not_taken'))
);
comment on table tasks.occurrences is 'Ledger: each occurrence of a schedule once, through deletion and re-creation of the schedule; deleted by tasks.maintain once it is past its time';
comment on column tasks.occurrences.schedule_key is 'The schedule';
comment on column tasks.occurrences.occurrence_at is 'Nominal instant; of a manual trigger, the instant of the call';
comment on column tasks.occurrences.trigger is 'schedule, catchup, backfill or manual';
comment on column tasks.occurrences.revision is 'Revision of the schedule then';
comment on column tasks.occurrences.outcome is 'enqueued; skipped_overlap; not_taken: the table took no row, because its like waits (unique tasks) or a trigger swallowed it';
comment on column tasks.occurrences.table_id is 'The task table';
comment on column tasks.occurrences.task_id is 'The task that it became; NULL if it became none';
comment on column tasks.occurrences.request_id is 'Identity of a manual trigger, given by the caller';
comment on column tasks.occurrences.watched is 'Whether its task counts for overlap: not known to have ended';
comment on column tasks.occurrences.created_at is 'When it was handled; later than occurrence_at by the lag';

create unique index occurrences_request_idx on tasks.occurrences (schedule_key, request_id) where request_id is not null;
create index occurrences_watched_idx on tasks.occurrences (schedule_key) where watched;
create index occurrences_created_idx on tasks.occurrences (created_at);

create function tasks.schedule_state(p_schedule tasks.schedules) returns text
language sql immutable
as $$
  select case
    when p_schedule.paused_at is not null then 'paused'
    when not p_schedule.planned then 'unplanned'
    when p_schedule.next_at is null then 'finished'
    else 'active'
  end
$$;
comment on function tasks.schedule_state(tasks.schedules) is 'State of a schedule: active, unplanned, paused or finished';

-- The first point of the grid strictly after an instant, in elapsed time and whole milliseconds.
create function tasks.next_on_grid(p_every interval, p_anchor timestamptz, p_after timestamptz) returns timestamptz
language sql immutable
as $$
  select pg_catalog.date_trunc('milliseconds', p_anchor, 'UTC') + pg_catalog.make_interval(secs =>
    e.every * (pg_catalog.floor(pg_catalog.date_part('epoch', p_after - pg_catalog.date_trunc('milliseconds', p_anchor, 'UTC')) / e.every) + 1))
  from (select pg_catalog.date_part('epoch', p_every) as every) e
$$;
comment on function tasks.next_on_grid(interval, timestamptz, timestamptz) is 'The first instant of the grid anchor + k * every after an instant';

-- The text of a double precision would follow the session's extra_float_digits.
create function tasks.jitter_of(p_key text, p_occurrence_at timestamptz, p_jitter interval) returns interval
language sql immutable
as $$
  select case when p_jitter >= interval '1 ms' then
    pg_catalog.make_interval(secs =>
      (pg_catalog.hashtextextended(p_key || ' ' || (1000 * pg_catalog.date_part('epoch', p_occurrence_at))::bigint, 0) & 9223372036854775807)
      % (1000 * pg_catalog.date_part('epoch', p_jitter))::bigint / 1000.0::double precision)
    else interval '0' end
$$;
comment on function tasks.jitter_of(text, timestamptz, interval) is 'By how much the task of an occurrence is put off; a hash, so always the same';

-- Made anew for each call, so that it knows the table as it is. Only the columns given are read from the JSON: as a whole
-- record, a NOT NULL domain elsewhere in the table would refuse to be left out.
create function tasks.source_of_enqueue(p_table regclass, p_columns jsonb, p_verb text default 'schedule') returns text
language plpgsql stable
as $$
declare
  v_table  text := tasks.quoted(p_table);
  v_into   text;
  v_values text;
  v_record text;
  v_bad    text;
  v_unique text;
begin
  if v_table is null then
    perform tasks.refuse('TQ003', p_verb || ': the task table is gone');
  end if;
  select
    pg_catalog.string_agg(pg_catalog.quote_ident(a.attname) || ', ', '' order by k.name),
    pg_catalog.string_agg('r.' || pg_catalog.quote_ident(a.attname) || ', ', '' order by k.name),
    pg_catalog.string_agg(pg_catalog.quote_ident(a.attname) || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod), ', ' order by k.name),
    pg_catalog.string_agg(pg_catalog.quote_ident(k.name), ', ' order by k.name) filter (where a.attname is null)
  into v_into, v_values, v_record, v_bad
  from pg_catalog.jsonb_object_keys(p_columns) k(name)
  left join pg_catalog.pg_attribute a on a.attrelid = p_table and a.attname = k.name and a.attnum > 0 and not a.attisdropped;
  if v_bad is not null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: %s has no column %s', p_verb, v_table, v_bad));
  end if;
  -- Of unique tasks one waits already: that is what they are for, and no fault of the schedule. (The rules come with 0023.)
  if pg_catalog.to_regclass('tasks.unique_rules') is not null then
    select pg_catalog.format('on conflict (%s) where %s do nothing',
      (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ') from pg_catalog.unnest(u.columns) c), tasks.unique_predicate(u.running))
    into v_unique from tasks.unique_rule(p_table) u where u.columns is not null;
  end if;
  return pg_catalog.format(
    'insert into %s (%splanned_to, schedule_key, occurrence_at, schedule_trigger)
     select %so.planned_to, $1, o.occurrence_at, o.trigger
     from rows from (pg_catalog.unnest($2), pg_catalog.unnest($3), pg_catalog.unnest($4)) with ordinality o (planned_to, occurrence_at, trigger, n)%s
     order by o.n %s returning id, occurrence_at',
    v_table, v_into, v_values, ' cross join pg_catalog.jsonb_to_record($5) r (' || v_record || ')', v_unique);
end
$$;
comment on function tasks.source_of_enqueue(regclass, jsonb, text) is
  'INSERT statement for occurrences of a schedule: $1 key, $2 planned_to[], $3 occurrence_at[], $4 trigger[], $5 columns';

-- What the columns of a schedule must be, told before anything is stored.
create function tasks.check_schedule_columns(p_table regclass, p_columns jsonb, p_verb text default 'schedule') returns void
language plpgsql volatile
as $$
declare
  v_column record;
  v_bad    text;
begin
  if pg_catalog.jsonb_typeof(p_columns) <> 'object' then
    perform tasks.refuse('TQ003', p_verb || ': columns must be a JSON object of column names and values');
  end if;
  perform tasks.source_of_enqueue(p_table, p_columns, p_verb);
  select pg_catalog.string_agg(pg_catalog.quote_ident(k), ', ' order by k) into v_bad
  from pg_catalog.jsonb_object_keys(p_columns) k
  where exists (select from pg_catalog.pg_attribute a where a.attrelid = 'tasks.template'::regclass and a.attname = k and a.attnum > 0)
    and k not in ('priority', 'trace_id', 'comment', 'group_key', 'traceparent');
  if v_bad is not null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: the queue writes the column %s itself', p_verb, v_bad));
  end if;
  for v_column in
    select pg_catalog.quote_ident(a.attname) as name, p_columns -> a.attname as value, pg_catalog.format_type(a.atttypid, a.atttypmod) as type_name,
      a.attnotnull or t.typnotnull as not_null,
      a.atthasdef or a.attidentity <> '' or t.typdefault is not null as filled,
      a.attgenerated <> '' or a.attidentity = 'a' as computed
    from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
    where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
      and (p_columns ? a.attname::text or not exists (
        select from pg_catalog.pg_attribute o where o.attrelid = 'tasks.template'::regclass and o.attname = a.attname and o.attnum > 0))
    order by a.attnum
  loop
    if v_column.value is null then
      if v_column.not_null and not v_column.filled then
        perform tasks.refuse('TQ003', pg_catalog.format('%s: the column %s of %s must not be NULL: give it a value in columns', p_verb, v_column.name, tasks.quoted(p_table)));
      end if;
      continue;
    elsif v_column.computed then
      perform tasks.refuse('TQ003', pg_catalog.format('%s: PostgreSQL computes the column %s of %s itself', p_verb, v_column.name, tasks.quoted(p_table)));
    elsif v_column.not_null and pg_catalog.jsonb_typeof(v_column.value) = 'null' then
      perform tasks.refuse('TQ003', pg_catalog.format('%s: the column %s of %s must not be NULL', p_verb, v_column.name, tasks.quoted(p_table)));
    end if;
    begin
      execute pg_catalog.format('select from pg_catalog.jsonb_to_record($1) r (%s %s) where r is null', v_column.name, v_column.type_name)
      using p_columns;
    exception
      -- A domain may ask any function, so any error is the value's.
      when others then
        perform tasks.refuse('TQ003', pg_catalog.format('%s: the column %s of %s is %s and can''t be %s: %s', p_verb,
          v_column.name, tasks.quoted(p_table), v_column.type_name, pg_catalog.left(v_column.value::text, 200), sqlerrm));
    end;
  end loop;
  if (p_columns ->> 'priority')::numeric not between 0 and 3 then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: the column priority must be from 0 to 3, not %s', p_verb, p_columns -> 'priority'));
  end if;
end
$$;
comment on function tasks.check_schedule_columns(regclass, jsonb, text) is 'Refuses columns that the task table of a schedule or of a group''s callback doesn''t have, of a wrong type, or missing, naming the column';

create function tasks.check_schedule(p_schedule tasks.schedules) returns void
language plpgsql stable
as $$
declare
  v_zone_known boolean := false;
begin
  begin
    -- The pattern below keeps out what PostgreSQL takes besides names: abbreviations and offsets.
    v_zone_known := pg_catalog.timezone(p_schedule.timezone, pg_catalog.now()) is not null;
  exception
    when invalid_parameter_value then
      null;
  end;
  if p_schedule.key is null or p_schedule.key = '' then
    perform tasks.refuse('TQ003', 'schedule: key must not be empty');
  elsif (p_schedule.cron is null) = (p_schedule.every is null) then
    perform tasks.refuse('TQ003', 'schedule: give cron or every, one of the two');
  elsif p_schedule.cron is not null and p_schedule.cron !~* '^[[:space:]]*(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[^[:space:]]+([[:space:]]+[^[:space:]]+){4,5})[[:space:]]*$' then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: cron must have five fields, or six with seconds first, not %L', p_schedule.cron));
  elsif p_schedule.every < interval '1 s' or pg_catalog.date_part('epoch', p_schedule.every)::numeric % 1 <> 0 then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: every must be a whole number of seconds, at least one, not %s', p_schedule.every));
  elsif p_schedule.every > interval '36525 days' then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: every must be at most a hundred years, not %s', p_schedule.every));
  elsif p_schedule.cron is not null and p_schedule.anchor is not null then
    perform tasks.refuse('TQ003', 'schedule: anchor belongs to every; cron has none');
  elsif not pg_catalog.isfinite(p_schedule.anchor) or not pg_catalog.isfinite(p_schedule.starts_at) or not pg_catalog.isfinite(p_schedule.ends_at) then
    perform tasks.refuse('TQ003', 'schedule: anchor, starts_at and ends_at must be finite; NULL: no limit');
  elsif p_schedule.timezone is null or p_schedule.timezone !~ '^([A-Za-z_]+(/[A-Za-z0-9_+-]+)+|UTC)$'
    or not v_zone_known then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: timezone must be an IANA name such as Europe/Berlin, not %L', p_schedule.timezone));
  elsif p_schedule.catch_up is null or p_schedule.catch_up not in ('none', 'latest', 'all') then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: catch_up must be none, latest or all, not %L', p_schedule.catch_up));
  elsif p_schedule.overlap is null or p_schedule.overlap not in ('allow', 'skip', 'buffer_one') then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: overlap must be allow, skip or buffer_one, not %L', p_schedule.overlap));
  elsif p_schedule.ends_at < p_schedule.starts_at then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: ends_at (%s) is earlier than starts_at (%s)', p_schedule.ends_at, p_schedule.starts_at));
  elsif p_schedule.max_runs < 1 then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: max_runs must be at least 1, not %s', p_schedule.max_runs));
  elsif p_schedule.origin not in ('code', 'api') then
    perform tasks.refuse('TQ003', pg_catalog.format('schedule: origin must be code or api, not %L', p_schedule.origin));
  elsif p_schedule.catch_up_window is null or p_schedule.grace is null or p_schedule.jitter is null then
    perform tasks.refuse('TQ003', 'schedule: catch_up_window, grace and jitter must not be NULL');
  end if;
  perform tasks.check_interval('schedule: catch_up_window', p_schedule.catch_up_window);
  perform tasks.check_interval('schedule: grace', p_schedule.grace);
  perform tasks.check_interval('schedule: jitter', p_schedule.jitter);
end
$$;
comment on function tasks.check_schedule(tasks.schedules) is 'Refuses a schedule that makes no sense, naming the argument; whether a cron expression can be computed, a worker finds out';

commit;
