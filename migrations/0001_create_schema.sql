-- 0001_create_schema: schema, migration record, clock, template, registry, leases, state.
--
-- Flow: every migration file is one transaction that takes the migration lock, refuses to run twice and records itself
-- (tasks.start_migration), so that psql -f and migrate() agree about what is applied.
-- Where the original pg_tasks is installed, its objects are set aside as tasks.original_*; tasks.adopt() brings them over.
-- Until then its task tables, their functions and its workers go on as they are.
-- Locks: an advisory transaction lock (class 1886415980, key 0); ACCESS EXCLUSIVE on the original's own objects, if there
-- are any.

-- A stricter default isolation would look with a snapshot from before the lock.
begin isolation level read committed;

select pg_catalog.pg_advisory_xact_lock(1886415980, 0);

do $$
begin
  -- Not "if not exists": that asks for the right to create schemas even when there is nothing to create.
  if pg_catalog.to_regnamespace('tasks') is null then
    create schema tasks;
    comment on schema tasks is 'pg_tasks: a task queue whose task types are tables that the user owns';
  end if;
end
$$;

create table if not exists tasks.migrations (
  number     integer primary key,
  name       text not null,
  checksum   text,
  breaking   boolean not null default false,
  applied_at timestamptz not null default pg_catalog.now()
);

do $$
declare
  v_object record;
begin
  if exists (select from tasks.migrations where number = 1) then
    raise exception 'migration 0001_create_schema is already applied' using errcode = 'TQ010';
  end if;

  if pg_catalog.to_regclass('tasks.types') is null then
    return;
  end if;
  if (
    select pg_catalog.count(*) <> 7 from pg_catalog.pg_attribute a
    where a.attrelid = 'tasks.types'::regclass and not a.attisdropped
      and a.attname in ('id', 'schema_name', 'table_name', 'timeout', 'max_retries', 'notification_interval', 'storage_time')
  ) then
    raise exception 'tasks.types is there and is not the registry of the original pg_tasks' using errcode = 'TQ012',
      hint = 'Rename that table: the schema tasks belongs to pg_tasks.';
  end if;

  -- Its objects leave the extension first, else they would go with it. Row types follow their table by themselves.
  for v_object in
    select o.type, o.identity
    from pg_catalog.pg_depend d
    join pg_catalog.pg_extension e on e.oid = d.refobjid and e.extname = 'pg_tasks'
    cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) o
    where d.refclassid = 'pg_catalog.pg_extension'::regclass and d.deptype = 'e'
      and d.classid <> 'pg_catalog.pg_type'::regclass
  loop
    execute pg_catalog.format('alter extension pg_tasks drop %s %s', v_object.type, v_object.identity);
  end loop;
  drop extension if exists pg_tasks;

  -- The triggers on its task tables stay, so their function must do without what goes here; 0002 replaces it.
  if pg_catalog.to_regprocedure('tasks.notify_workers()') is not null then
    create or replace function tasks.notify_workers() returns trigger
    language plpgsql volatile
    set search_path = pg_catalog, pg_temp
    as $trigger$
    begin
      perform pg_notify('pg_tasks', tg_table_schema || '.' || tg_table_name);
      return null;
    end
    $trigger$;
  end if;
  drop table if exists tasks.last_notifications;
  for v_object in
    select p.oid::regprocedure as signature
    from pg_catalog.pg_proc p
    where p.pronamespace = 'tasks'::regnamespace and p.proname in ('register', 'unregister', 'create_stats_view')
  loop
    execute pg_catalog.format('drop function %s', v_object.signature);
  end loop;

  -- Indexes and sequences too: their names belong to the new tables. The longest name first, so that none is in the way.
  for v_object in
    select c.oid::regclass as name, c.relname, case c.relkind when 'i' then 'index' when 'S' then 'sequence' when 'v' then 'view' else 'table' end as kind
    from pg_catalog.pg_class c
    where c.relnamespace = 'tasks'::regnamespace
      and (c.relname in ('types', 'template', 'stats')
        or c.oid in (select i.indexrelid from pg_catalog.pg_index i
          where i.indrelid in (pg_catalog.to_regclass('tasks.types'), pg_catalog.to_regclass('tasks.template')))
        or c.oid in (select d.objid from pg_catalog.pg_depend d
          where d.classid = 'pg_catalog.pg_class'::regclass and d.refclassid = 'pg_catalog.pg_class'::regclass
            and d.deptype in ('a', 'i')
            and d.refobjid in (pg_catalog.to_regclass('tasks.types'), pg_catalog.to_regclass('tasks.template'))))
      and c.relkind in ('r', 'v', 'i', 'S')
  loop
    execute pg_catalog.format('alter %s %s rename to %I', v_object.kind, v_object.name, pg_catalog.left('original_' || v_object.relname, 63));
  end loop;
end
$$;

comment on table tasks.migrations is 'Migrations of the schema that are applied; each migration file records itself';
comment on column tasks.migrations.number is 'Number at the head of the file''s name';
comment on column tasks.migrations.name is 'Name of the file without number and ending';
comment on column tasks.migrations.checksum is 'SHA-256 of the file, hex; filled in by migrate(), NULL after psql -f';
comment on column tasks.migrations.breaking is 'Whether clients that do not know this migration must stay away';
comment on column tasks.migrations.applied_at is 'When it was applied';

-- The one clock: everything that decides what is due or expired asks it. Tests replace it in their own database.
create function tasks.clock() returns timestamptz
language sql volatile
as 'select pg_catalog.clock_timestamp()';
comment on function tasks.clock() is 'The clock that decides what is due and what has expired; moves inside a transaction';

-- A day of an interval is 24 hours, a month 30 days and a year 365.25, whatever the session's time zone does.
create function tasks.elapsed(p_interval interval) returns interval
language sql immutable
as 'select pg_catalog.make_interval(secs => pg_catalog.date_part(''epoch'', p_interval))';
comment on function tasks.elapsed(interval) is 'The same span as elapsed time in seconds: independent of time zones and daylight saving';

create table tasks.template (
  id               bigint generated by default as identity primary key,
  created_at       timestamptz not null default pg_catalog.now(),
  planned_to       timestamptz not null default pg_catalog.clock_timestamp(),
  started_at       timestamptz,
  finished_at      timestamptz,
  execution_count  integer not null default 0,
  canceled         boolean not null default false,
  trace_id         uuid,
  comment          text,
  priority         smallint not null default 1,
  run_token        uuid,
  run_worker       uuid,
  run_until        timestamptz,
  lost_count       smallint not null default 0,
  held             boolean not null default false,
  failed_at        timestamptz,
  canceled_at      timestamptz,
  failure_reason   text,
  last_error       text,
  schedule_key     text,
  occurrence_at    timestamptz,
  schedule_trigger text,
  group_key        text,
  traceparent      text
);

comment on table tasks.template is 'Template of every task table: CREATE TABLE ... (LIKE tasks.template INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES, your columns)';
comment on column tasks.template.id is 'Identity of the task';
comment on column tasks.template.created_at is 'Start of the transaction that enqueued the task';
comment on column tasks.template.planned_to is 'Not to be acquired earlier';
comment on column tasks.template.started_at is 'When it was acquired last; NULL while it waits';
comment on column tasks.template.finished_at is 'When it was finished';
comment on column tasks.template.execution_count is 'Executions so far, the running one included';
comment on column tasks.template.canceled is 'Whether it was canceled';
comment on column tasks.template.trace_id is 'Trace identity of the enqueuing code, kept for the convention';
comment on column tasks.template.comment is 'Free text of the last finish, retry or cancel that gave one';
comment on column tasks.template.priority is '0 (first) to 3 (last)';
comment on column tasks.template.run_token is 'Fencing token of the run; new at each acquire';
comment on column tasks.template.run_worker is 'Worker that runs it, whose lease (tasks.leases) covers it; NULL when acquired without a worker';
comment on column tasks.template.run_until is 'End of the lease when acquired without a worker; NULL when a worker''s lease covers it or the type has no timeout';
comment on column tasks.template.lost_count is 'How often its lease ended without an outcome, or 2 where it ran in a batch that was not committed; from 2 on it is acquired alone';
comment on column tasks.template.held is 'Whether it is kept back because its key has no room; written by the queue';
comment on column tasks.template.failed_at is 'When it failed for good';
comment on column tasks.template.canceled_at is 'When it was canceled';
comment on column tasks.template.failure_reason is 'Why it failed for good: error, lost or run_limit';
comment on column tasks.template.last_error is 'Error text of the last execution that did not succeed';
comment on column tasks.template.schedule_key is 'Schedule that made it';
comment on column tasks.template.occurrence_at is 'Nominal instant of the schedule''s occurrence';
comment on column tasks.template.schedule_trigger is 'What made it: schedule, catchup, backfill or manual';
comment on column tasks.template.group_key is 'Group that it belongs to';
comment on column tasks.template.traceparent is 'W3C trace context of the enqueuing code';

-- What acquire walks. Final and running rows are not in it, so its size is that of the waiting work.
create index template_ready_idx on tasks.template (priority, planned_to, id)
  where started_at is null and finished_at is null and failed_at is null and not canceled and lost_count < 2 and not held;
-- Suspects (lost twice or more) stand apart: nearly always empty.
create index template_suspect_idx on tasks.template (planned_to, id)
  where started_at is null and finished_at is null and failed_at is null and not canceled and lost_count >= 2 and not held;
-- What rescue walks.
create index template_running_idx on tasks.template (run_worker, run_until)
  where started_at is not null and finished_at is null and failed_at is null and not canceled;
-- What clean and the lists of ended tasks walk: a row stands in one of them at most.
create index template_finished_idx on tasks.template (finished_at) where finished_at is not null;
create index template_failed_idx on tasks.template (failed_at) where failed_at is not null;
-- Those that a user's own update canceled have no date yet; clean gives them one.
create index template_canceled_idx on tasks.template (canceled_at) where canceled;

create table tasks.types (
  table_id              regclass primary key,
  id                    integer generated by default as identity unique,
  schema_name           text not null,
  table_name            text not null,
  timeout               interval,
  max_retries           integer,
  notification_interval interval,
  storage_time          interval,
  notify                boolean not null default true,
  function_name         text not null unique,
  backoff_base          interval not null default '1 s',
  backoff_max           interval not null default '1 hour',
  run_limit             interval,
  registered_at         timestamptz not null default pg_catalog.now(),
  source_hash           text,
  constraint types_name_key unique (schema_name, table_name) deferrable initially deferred,
  -- For whoever writes here by hand; register and configure refuse earlier and say more.
  constraint timeout_is_positive check (timeout > '0'),
  constraint max_retries_is_not_negative check (max_retries >= 0),
  constraint notification_interval_is_not_negative check (notification_interval >= '0'),
  constraint storage_time_is_not_negative check (storage_time >= '0'),
  constraint backoff_base_is_positive check (backoff_base > '0'),
  constraint backoff_max_is_at_least_backoff_base check (backoff_max >= backoff_base),
  constraint run_limit_is_positive check (run_limit > '0')
);

comment on table tasks.types is 'Registry of task types; written by register, configure and unregister';
comment on column tasks.types.table_id is 'The task table, by identity: follows a rename';
comment on column tasks.types.id is 'Number of the type, kept for the convention';
comment on column tasks.types.schema_name is 'Schema of the table when it was registered last';
comment on column tasks.types.table_name is 'Name of the table when it was registered last';
comment on column tasks.types.timeout is 'Length of the lease; NULL: never taken back';
comment on column tasks.types.max_retries is 'Executions after the first; NULL: without end';
comment on column tasks.types.notification_interval is 'Kept for the convention; stored and not used';
comment on column tasks.types.storage_time is 'How long ended tasks are kept; 0: deleted at finish; NULL: for ever';
comment on column tasks.types.notify is 'Whether enqueueing notifies; false: workers find tasks by polling';
comment on column tasks.types.function_name is 'What stands behind the verb in the names of the type''s functions';
comment on column tasks.types.backoff_base is 'Wait before the first retry';
comment on column tasks.types.backoff_max is 'Longest wait before a retry';
comment on column tasks.types.run_limit is 'Longest run of a handler; NULL: no limit';
comment on column tasks.types.registered_at is 'When it was registered first';
comment on column tasks.types.source_hash is 'Digest of the generated functions, to see whether they are current';

-- Small and updated in place: leased_until stands in no index, so each heartbeat is a HOT update.
create table tasks.leases (
  worker_id    uuid not null,
  table_id     regclass not null,
  leased_until timestamptz not null,
  opened_at    timestamptz not null default pg_catalog.clock_timestamp(),
  primary key (worker_id, table_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

comment on table tasks.leases is 'One lease per worker and type: while it lasts, the worker''s running tasks of that type are its own';
comment on column tasks.leases.worker_id is 'Identity of the worker, new at each start';
comment on column tasks.leases.table_id is 'The task table';
comment on column tasks.leases.leased_until is 'End of the lease unless a heartbeat renews it';
comment on column tasks.leases.opened_at is 'When the worker acquired its first task of the type';

-- A CASE, so that the planner can't derive the predicate of a partial index from it: a by-id statement that implied the
-- predicate would be planned on that index and walk its dead entries.
create function tasks.is_running(
  p_started_at timestamptz, p_finished_at timestamptz, p_failed_at timestamptz, p_canceled boolean
) returns boolean
language sql immutable
as 'select case when p_started_at is null or p_finished_at is not null or p_failed_at is not null or p_canceled then false else true end';
comment on function tasks.is_running(timestamptz, timestamptz, timestamptz, boolean) is 'Whether a task with these columns is running';

-- Every row is in exactly one state; views, statistics and pages all ask here.
create function tasks.state(
  p_planned_to timestamptz, p_started_at timestamptz, p_finished_at timestamptz, p_failed_at timestamptz, p_canceled boolean,
  p_at timestamptz
) returns text
language sql immutable
as $$
  select case
    when p_finished_at is not null then 'finished'
    when p_canceled then 'canceled'
    when p_failed_at is not null then 'failed'
    when p_started_at is not null then 'running'
    when p_planned_to > p_at then 'scheduled'
    else 'ready'
  end
$$;
comment on function tasks.state(timestamptz, timestamptz, timestamptz, timestamptz, boolean, timestamptz) is
  'State of a task with these columns at an instant: scheduled, ready, running, finished, failed or canceled';

-- base * 2^n, +/- 20 %, at most the maximum. The exponent is capped before it can overflow.
create function tasks.backoff(p_base interval, p_max interval, p_retries integer) returns interval
language sql volatile
as $$
  select least(
    tasks.elapsed(p_max),
    pg_catalog.make_interval(secs =>
      least(pg_catalog.date_part('epoch', p_base) * pg_catalog.power(2::double precision, least(greatest(p_retries, 0), 40)::double precision), 1e9)
      * (0.8 + 0.4 * pg_catalog.random()))
  )
$$;
comment on function tasks.backoff(interval, interval, integer) is
  'Wait before a retry: base * 2^retries +/- 20 %, at most the maximum; retries counts those before this one';

create function tasks.refuse(p_code text, p_message text, p_hint text default null) returns void
language plpgsql volatile
as $$
begin
  if p_hint is null then
    raise exception using errcode = p_code, message = p_message;
  end if;
  raise exception using errcode = p_code, message = p_message, hint = p_hint;
end
$$;
comment on function tasks.refuse(text, text, text) is 'Raises an error of ours: SQLSTATE, message, what to do';

-- Centuries are out of range for a timestamp sooner than for an interval; 'infinity' (PostgreSQL 17) is never meant.
create function tasks.check_interval(p_argument text, p_value interval, p_hint text default null) returns void
language plpgsql immutable
as $$
begin
  if p_value < interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('%s must not be negative, not %s', p_argument, p_value), p_hint);
  elsif p_value > interval '1000 years' then
    perform tasks.refuse('TQ003', pg_catalog.format('%s must be at most 1000 years, not %s', p_argument, p_value), p_hint);
  end if;
end
$$;
comment on function tasks.check_interval(text, interval, text) is 'Refuses an interval that is negative or longer than 1000 years, naming the argument';

-- How every later file begins. The check is a statement of its own, so that it looks after the lock is taken.
create function tasks.start_migration(p_number integer, p_name text, p_breaking boolean default false) returns void
language plpgsql volatile
as $$
begin
  perform pg_catalog.pg_advisory_xact_lock(1886415980, 0);
  if exists (select from tasks.migrations m where m.number = p_number) then
    perform tasks.refuse('TQ010', pg_catalog.format('migration %s_%s is already applied', pg_catalog.to_char(p_number, 'FM0000'), p_name));
  elsif not exists (select from tasks.migrations m where m.number = p_number - 1) then
    perform tasks.refuse('TQ012', pg_catalog.format('migration %s_%s comes before its time: the one before it is not applied',
      pg_catalog.to_char(p_number, 'FM0000'), p_name), 'Apply the files in the order of their numbers.');
  end if;
  insert into tasks.migrations (number, name, breaking) values (p_number, p_name, p_breaking);
end
$$;
comment on function tasks.start_migration(integer, text, boolean) is
  'First statement of a migration: takes the migration lock, refuses what is applied already or out of turn, records it';

insert into tasks.migrations (number, name) values (1, 'create_schema');

commit;
