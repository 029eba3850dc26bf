-- An imitation of the original pg_tasks for the tests of adoption: the same objects, names and signatures, as far as a
-- database of its users shows them; what is inside the functions is our own and as little as the tests need.

create table tasks.template (
  id              integer generated always as identity primary key,
  created_at      timestamptz default now(),
  planned_to      timestamptz default now(),
  started_at      timestamptz,
  finished_at     timestamptz,
  execution_count integer default 0,
  canceled        boolean default false,
  trace_id        uuid,
  comment         text
);
create index on tasks.template (created_at);

create table tasks.types (
  id                    integer generated always as identity primary key,
  schema_name           text not null,
  table_name            text not null,
  timeout               interval,
  notification_interval interval default '1s',
  max_retries           integer default 0,
  storage_time          interval,
  unique (schema_name, table_name)
);

create unlogged table tasks.last_notifications (
  task_type        integer primary key references tasks.types,
  last_notified_at time
);

create function tasks.notify_workers() returns trigger language plpgsql as $$
begin
  insert into tasks.last_notifications as l
  select t.id, current_time::time from tasks.types t where t.schema_name = tg_table_schema and t.table_name = tg_table_name
  on conflict (task_type) do update set last_notified_at = excluded.last_notified_at;
  perform pg_notify('pg_tasks', tg_table_schema || '.' || tg_table_name);
  return null;
end $$;

create function tasks.create_stats_view() returns void language plpgsql as $$
begin
  drop view if exists tasks.stats;
  execute 'create view tasks.stats as ' || coalesce((
    select string_agg(format('select %L as schema_name, %L as table_name, s.* from tasks.%I s', schema_name, table_name,
      'stats_of_' || schema_name || '_' || table_name), ' union all ')
    from tasks.types), 'select null::text as schema_name, null::text as table_name');
end $$;

create function tasks.register(
  schema_name text, table_name text, timeout interval default '1 minute', max_retries integer default 0,
  notification_interval interval default '1s', storage_time interval default null
) returns void language plpgsql as $$
declare
  v_name  text := $1 || '_' || $2;
  v_table text := format('%I.%I', $1, $2);
begin
  insert into tasks.types (schema_name, table_name, timeout, max_retries, notification_interval, storage_time)
  values ($1, $2, $3, $4, $5, $6);
  execute format('create trigger notify_on_new after insert on %s for each statement execute function tasks.notify_workers(%L)',
    v_table, $5);
  execute format('create function tasks.%I(max_num integer) returns setof %s language sql as $f$
    update %2$s set started_at = now(), execution_count = execution_count + 1
    where id in (select id from %2$s
      where started_at is null and finished_at is null and planned_to <= now() and execution_count <= %3$L::integer
      order by created_at desc nulls last limit max_num for update skip locked)
    returning *; $f$', 'acquire_' || v_name, v_table, $4);
  execute format('create function tasks.%I(task_id integer, started_at timestamptz, comment text default null)
    returns void language sql as $f$ update %s t set finished_at = now(), comment = $3 where t.id = $1 $f$', 'finish_' || v_name, v_table);
  execute format('create function tasks.%I(task_id integer, planned_to timestamptz, comment text default null)
    returns void language sql as $f$ update %s t set started_at = null, planned_to = $2, comment = $3 where t.id = $1 $f$', 'retry_' || v_name, v_table);
  execute format('create function tasks.%I(task_id integer, planned_to timestamptz default null, comment text default null)
    returns void language sql as $f$ update %s t set started_at = null, comment = $3 where t.id = $1 $f$', 'cancel_' || v_name, v_table);
  execute format('create function tasks.%I(task_id integer) returns void language sql as $f$
    update %s t set started_at = null, finished_at = null, execution_count = 0 where t.id = $1 $f$', 'reset_' || v_name, v_table);
  execute format('create function tasks.%I(finished_after interval) returns integer language sql as $f$
    with gone as (delete from %s where finished_at < now() - $1 returning 1) select count(*)::integer from gone $f$', 'clean_' || v_name, v_table);
  execute format('create view tasks.%I as
    select count(*) as total, count(*) filter (where planned_to > now()) as planned_to_future,
      count(*) filter (where finished_at is not null) as completed
    from %s', 'stats_of_' || v_name, v_table);
  perform tasks.create_stats_view();
end $$;

create function tasks.unregister(schema_name text, table_name text) returns void language sql as $$
  delete from tasks.types t where t.schema_name = $1 and t.table_name = $2
$$;
