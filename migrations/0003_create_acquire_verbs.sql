-- 0003_create_acquire_verbs: sources of acquire, rescue, next_due and heartbeat.
--
-- Flow: each function here returns the CREATE FUNCTION statement of one verb for one task table; register executes them.
-- %1$s is the quoted table, %2$s the quoted name of the verb's function, %3$s the table as a literal, %4$s the quoted name
-- of the rescue function. In the generated bodies a column always wins over a variable (a user's column may have any
-- name), so arguments are written $1, $2 … and locals this.v_….
-- The verbs pin three planner settings and no search_path: a plan made while the table was tiny must not scan it once it
-- is large, and a user's triggers, which run inside, keep their path.
-- Lock order: the worker's lease (key share), then task rows in index order, skip locked.

begin isolation level read committed;
select tasks.start_migration(3, 'create_acquire_verbs');

create function tasks.source_of_acquire(p_table text, p_name text) returns text
language sql immutable
as $source$
  select pg_catalog.format($format$
create or replace function tasks.%2$s(
  max_num integer, worker_id uuid default null, slots_empty boolean default true, options jsonb default null
) returns setof %1$s
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
as $verb$
#variable_conflict use_column
<<this>>
declare
  v_table_id    oid := %3$s::pg_catalog.regclass;
  v_timeout     interval;
  v_max_retries integer;
  v_now         timestamptz;
  v_until       timestamptz;
  v_cursor      text[];
  v_sweep       boolean := true;
  v_began       timestamptz;
  v_floor       timestamptz;
  v_at          timestamptz[] := array['-infinity', '-infinity', '-infinity', '-infinity'];
  v_id          bigint[] := array[0, 0, 0, 0];
  v_done        boolean[] := array[false, false, false, false];
  v_picked      bigint[];
  v_part        bigint[];
  v_claimed     bigint[] := '{}';
  v_some        bigint[];
  v_one         bigint;
  v_left        integer := $1;
  v_suspect     boolean := false;
begin
  if $1 is null or $1 < 1 or $1 > 10000 then
    perform tasks.refuse('TQ003', pg_catalog.format('acquire: max_num must be between 1 and 10000, not %%s', coalesce($1::text, 'NULL')));
  end if;
  select y.timeout, y.max_retries into this.v_timeout, this.v_max_retries
  from tasks.types y where y.table_id = this.v_table_id::pg_catalog.regclass;
  if not found then
    perform tasks.refuse('TQ004', pg_catalog.format('acquire: %%s is not registered', %3$s), 'Call tasks.register(schema, table).');
  end if;

  v_now := tasks.clock();
  if $2 is null then
    -- A caller without a worker has nobody who rescues for it.
    perform tasks.%4$s();
    v_until := this.v_now + tasks.elapsed(this.v_timeout);
  else
    -- The key share lock holds a rescue off until these rows are committed: it never misses them.
    perform from tasks.leases l
    where l.worker_id = $2 and l.table_id = this.v_table_id::pg_catalog.regclass and l.leased_until > this.v_now
    for key share;
    if not found then
      insert into tasks.leases as l (worker_id, table_id, leased_until)
      values ($2, this.v_table_id::pg_catalog.regclass, coalesce(this.v_now + tasks.elapsed(this.v_timeout), 'infinity'))
      on conflict on constraint leases_pkey do update set leased_until = excluded.leased_until;
    end if;
    v_cursor := pg_catalog.string_to_array(nullif(pg_catalog.current_setting('pg_tasks.cursor_' || this.v_table_id, true), ''), ' ');
  end if;

  -- Suspects run alone.
  if $3 then
    v_picked := array(
      select t.id from %1$s t
      where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count >= 2
        and t.planned_to <= this.v_now
      order by t.planned_to, t.id limit 1 for no key update skip locked);
    v_suspect := pg_catalog.cardinality(this.v_picked) > 0;
  end if;

  -- The cursor: where this session's last acquire ended, so that index entries that are dead but still visible to an old
  -- snapshot are stepped over. A full sweep finds what was committed, released or re-planned behind it; sweeps take at most
  -- a twentieth of the time.
  v_began := pg_catalog.clock_timestamp();
  if this.v_cursor is not null and this.v_began < pg_catalog.to_timestamp(this.v_cursor[1]::double precision) then
    v_sweep := false;
    for v_priority in 1..4 loop
      v_at[v_priority] := pg_catalog.to_timestamp(this.v_cursor[v_priority * 2]::double precision);
      v_id[v_priority] := this.v_cursor[v_priority * 2 + 1]::bigint;
    end loop;
  end if;

  for v_round in 1..20 loop
    if not this.v_suspect then
      v_picked := '{}';
      <<walk>>
      for v_priority in 1..4 loop
        continue when this.v_done[walk.v_priority];
        v_part := array(
          select t.id from %1$s t
          where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count < 2
            and t.priority = walk.v_priority - 1
            and t.planned_to <= this.v_now
            and (t.planned_to, t.id) > (this.v_at[walk.v_priority], this.v_id[walk.v_priority])
          order by t.planned_to, t.id
          limit this.v_left - pg_catalog.cardinality(this.v_picked)
          for no key update skip locked);
        v_picked := this.v_picked || this.v_part;
        if pg_catalog.cardinality(this.v_picked) < this.v_left then
          v_done[v_priority] := true;
        else
          v_id[v_priority] := this.v_part[pg_catalog.cardinality(this.v_part)];
          v_at[v_priority] := (select t.planned_to from %1$s t where t.id = this.v_id[walk.v_priority]);
          exit;
        end if;
      end loop;
    end if;
    exit when pg_catalog.cardinality(this.v_picked) = 0;

    begin
      with claimed as (
        update %1$s t set
          started_at = this.v_now,
          execution_count = case when t.execution_count < 2147483647 then t.execution_count + 1 else t.execution_count end,
          run_token = pg_catalog.gen_random_uuid(),
          run_worker = $2,
          run_until = this.v_until
        where t.id = any (this.v_picked) and (this.v_max_retries is null or t.execution_count <= this.v_max_retries)
        returning t.id
      )
      select pg_catalog.array_agg(c.id) into this.v_some from claimed c;
    exception
      when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available
        or insufficient_privilege or undefined_table or undefined_function or undefined_column then
        raise;
      when others then
        -- One row that can't be taken doesn't stop the others.
        v_some := '{}';
        foreach v_one in array this.v_picked loop
          begin
            update %1$s t set
              started_at = this.v_now,
              execution_count = case when t.execution_count < 2147483647 then t.execution_count + 1 else t.execution_count end,
              run_token = pg_catalog.gen_random_uuid(),
              run_worker = $2,
              run_until = this.v_until
            where t.id = this.v_one and (this.v_max_retries is null or t.execution_count <= this.v_max_retries);
            if found then
              v_some := this.v_some || this.v_one;
            end if;
          exception
            when transaction_rollback or operator_intervention then
              raise;
            when others then
              raise warning 'task %% of %% could not be acquired: %%', this.v_one, %3$s, sqlerrm;
          end;
        end loop;
    end;

    v_claimed := this.v_claimed || this.v_some;
    exit when pg_catalog.cardinality(this.v_some) = pg_catalog.cardinality(this.v_picked);

    -- Picked and not claimed: used up (failed, so that it leaves the index), or kept back by a trigger of the user's.
    begin
      update %1$s t set
        failed_at = this.v_now,
        failure_reason = case when t.last_error is null and t.lost_count > 0 then 'lost' else 'error' end,
        last_error = coalesce(t.last_error, 'executions used up: max_retries is ' || this.v_max_retries)
      where t.id = any (this.v_picked) and t.started_at is null and t.execution_count > this.v_max_retries;
    exception
      when transaction_rollback or insufficient_resources or operator_intervention then
        raise;
      when others then
        raise warning 'tasks of %% with no executions left could not be failed: %%', %3$s, sqlerrm;
    end;
    v_left := this.v_left - coalesce(pg_catalog.cardinality(this.v_some), 0);
    exit when this.v_left <= 0;
    v_suspect := false;
  end loop;

  if $2 is not null then
    -- Behind the last second there may be commits to come, so the cursor never passes it.
    v_floor := this.v_now - interval '1 s';
    if this.v_sweep then
      v_cursor := array[(pg_catalog.date_part('epoch', this.v_began) + 20 * pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - this.v_began))::text];
    else
      v_cursor := this.v_cursor[1:1];
    end if;
    for v_priority in 1..4 loop
      if this.v_done[v_priority] or this.v_at[v_priority] > this.v_floor then
        v_at[v_priority] := this.v_floor;
        v_id[v_priority] := 0;
      end if;
      v_cursor := this.v_cursor || pg_catalog.date_part('epoch', this.v_at[v_priority])::text || this.v_id[v_priority]::text;
    end loop;
    perform pg_catalog.set_config('pg_tasks.cursor_' || this.v_table_id, pg_catalog.array_to_string(this.v_cursor, ' '), false);
  end if;

  if pg_catalog.cardinality(this.v_claimed) > 0 then
    return query
      select t.* from %1$s t where t.id = any (this.v_claimed) order by t.priority, t.planned_to, t.id;
  end if;
end
$verb$
$format$,
    p_table, pg_catalog.quote_ident('acquire_' || p_name), pg_catalog.quote_literal(p_table), pg_catalog.quote_ident('rescue_' || p_name))
$source$;
comment on function tasks.source_of_acquire(text, text) is 'Source of acquire: claims up to max_num due tasks in the order priority, planned_to, id, and returns them';

create function tasks.source_of_rescue(p_table text, p_name text) returns text
language sql immutable
as $source$
  select pg_catalog.format($format$
create or replace function tasks.%2$s() returns bigint
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
as $verb$
#variable_conflict use_column
<<this>>
declare
  v_table_id oid := %3$s::pg_catalog.regclass;
  v_type     tasks.types;
  v_now      timestamptz := tasks.clock();
  v_worker   uuid := '00000000-0000-0000-0000-000000000000';
  v_ids      bigint[];
  v_count    bigint := 0;
  v_some     bigint;
begin
  select y.* into this.v_type from tasks.types y where y.table_id = this.v_table_id::pg_catalog.regclass;
  -- In a stricter isolation the snapshot may be older than the lease that it would judge.
  if not found or pg_catalog.current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    return 0;
  end if;

  <<workers>>
  loop
    -- One step per worker that has running tasks; callers without a worker come last (NULL).
    v_worker := (
      select t.run_worker from %1$s t
      where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
        and t.run_worker > this.v_worker
      order by t.run_worker limit 1);
    if this.v_worker is not null then
      -- A lease that lives covers its tasks; one that is locked is just being used. A missing one covers nothing.
      perform from tasks.leases l
      where l.worker_id = this.v_worker and l.table_id = this.v_table_id::pg_catalog.regclass and l.leased_until > this.v_now;
      continue workers when found;
      perform from tasks.leases l
      where l.worker_id = this.v_worker and l.table_id = this.v_table_id::pg_catalog.regclass
      for update skip locked;
      if not found then
        perform from tasks.leases l
        where l.worker_id = this.v_worker and l.table_id = this.v_table_id::pg_catalog.regclass;
        continue workers when found;
      end if;
      -- It was renewed while we came to it.
      perform from tasks.leases l
      where l.worker_id = this.v_worker and l.table_id = this.v_table_id::pg_catalog.regclass and l.leased_until > this.v_now;
      continue workers when found;
    end if;
    loop
      if this.v_worker is not null then
        v_ids := array(
          select t.id from %1$s t
          where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
            and t.run_worker = this.v_worker
          order by t.id limit 1000 for no key update skip locked);
      else
        v_ids := array(
          select t.id from %1$s t
          where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
            and t.run_worker is null and t.run_until <= this.v_now
          order by t.id limit 1000 for no key update skip locked);
      end if;
      exit when pg_catalog.cardinality(this.v_ids) = 0;
      update %1$s t set
        lost_count = least(t.lost_count + 1, 32767),
        started_at = case when t.execution_count <= coalesce(this.v_type.max_retries, 2147483647) then null else t.started_at end,
        planned_to = case when t.lost_count >= 1 then this.v_now + tasks.backoff(this.v_type.backoff_base, this.v_type.backoff_max, t.lost_count - 1) else t.planned_to end,
        failed_at = case when t.execution_count <= coalesce(this.v_type.max_retries, 2147483647) then null else this.v_now end,
        failure_reason = case when t.execution_count <= coalesce(this.v_type.max_retries, 2147483647) then null else 'lost' end,
        last_error = 'lease ended without an outcome (execution ' || t.execution_count || ')',
        run_token = null, run_worker = null, run_until = null
      where t.id = any (this.v_ids);
      get diagnostics v_some = row_count;
      v_count := this.v_count + this.v_some;
      exit when pg_catalog.cardinality(this.v_ids) < 1000;
    end loop;
    exit workers when this.v_worker is null;
    -- Rows that somebody's open transaction holds stay with the lease; the next rescue looks again.
    delete from tasks.leases l
    where l.worker_id = this.v_worker and l.table_id = this.v_table_id::pg_catalog.regclass and l.leased_until <= this.v_now
      and not exists (
        select from %1$s t
        where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
          and t.run_worker = this.v_worker);
  end loop;

  -- Dead leases that cover nothing.
  delete from tasks.leases l
  where (l.worker_id, l.table_id) in (
      select d.worker_id, d.table_id from tasks.leases d
      where d.table_id = this.v_table_id::pg_catalog.regclass and d.leased_until <= this.v_now
      order by d.worker_id for update skip locked)
    and l.leased_until <= this.v_now
    and not exists (
      select from %1$s t
      where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
        and t.run_worker = l.worker_id);
  return this.v_count;
end
$verb$
$format$,
    p_table, pg_catalog.quote_ident('rescue_' || p_name), pg_catalog.quote_literal(p_table))
$source$;
comment on function tasks.source_of_rescue(text, text) is 'Source of rescue: brings back the running tasks whose lease has ended; returns how many';

create function tasks.source_of_next_due(p_table text, p_name text) returns text
language sql immutable
as $source$
  select pg_catalog.format($format$
create or replace function tasks.%2$s(
  worker_id uuid default null, slots_empty boolean default true,
  out ready_in double precision, out rescue_in double precision, out sweep_in double precision
) returns record
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
as $verb$
#variable_conflict use_column
<<this>>
declare
  v_table_id oid := %3$s::pg_catalog.regclass;
  v_now      timestamptz := tasks.clock();
  v_began    timestamptz := pg_catalog.clock_timestamp();
  v_cursor   text[];
  v_due      timestamptz;
  v_next     timestamptz := 'infinity';
  v_end      timestamptz;
  v_floor    timestamptz := '-infinity';
begin
  -- While no sweep is allowed, what the last acquire left behind the cursor isn't walked here either.
  v_cursor := pg_catalog.string_to_array(nullif(pg_catalog.current_setting('pg_tasks.cursor_' || this.v_table_id, true), ''), ' ');
  if $1 is not null and this.v_cursor is not null and this.v_began < pg_catalog.to_timestamp(this.v_cursor[1]::double precision) then
    v_floor := this.v_now - interval '1 s';
    sweep_in := 1000 * (this.v_cursor[1]::double precision - pg_catalog.date_part('epoch', this.v_began));
  end if;
  <<walk>>
  for v_priority in 0..3 loop
    v_due := (
      select t.planned_to from %1$s t
      where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count < 2
        and t.priority = walk.v_priority and t.planned_to >= this.v_floor
      order by t.planned_to limit 1);
    v_next := least(this.v_next, coalesce(this.v_due, 'infinity'));
  end loop;
  if $2 then
    v_due := (
      select t.planned_to from %1$s t
      where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count >= 2
      order by t.planned_to limit 1);
    v_next := least(this.v_next, coalesce(this.v_due, 'infinity'));
  end if;
  v_end := (
    select t.run_until from %1$s t
    where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
      and t.run_worker is null and t.run_until is not null
    order by t.run_until limit 1);
  v_end := least(this.v_end, (
    select pg_catalog.min(l.leased_until) from tasks.leases l
    where l.table_id = this.v_table_id::pg_catalog.regclass and l.worker_id is distinct from $1));
  if this.v_next < 'infinity' then
    ready_in := greatest(0, 1000 * pg_catalog.date_part('epoch', this.v_next - this.v_now));
  end if;
  if this.v_end < 'infinity' then
    rescue_in := greatest(0, 1000 * pg_catalog.date_part('epoch', this.v_end - this.v_now));
  end if;
end
$verb$
$format$,
    p_table, pg_catalog.quote_ident('next_due_' || p_name), pg_catalog.quote_literal(p_table))
$source$;
comment on function tasks.source_of_next_due(text, text) is
  'Source of next_due: milliseconds until a task is due, until a lease of others ends, and until acquire may sweep again; NULL: none';

create function tasks.source_of_heartbeat(p_table text, p_name text) returns text
language sql immutable
as $source$
  select pg_catalog.format($format$
create or replace function tasks.%2$s(
  worker_id uuid, task_ids bigint[], run_tokens uuid[], find_strays boolean default false,
  out gone_ids bigint[], out gone_reasons text[], out rescue_due boolean, out suspect_due boolean,
  out stray_ids bigint[], out stray_tokens uuid[]
) returns record
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
as $verb$
#variable_conflict use_column
<<this>>
declare
  v_table_id oid := %3$s::pg_catalog.regclass;
  v_now      timestamptz := tasks.clock();
  v_timeout  interval;
begin
  select y.timeout into this.v_timeout from tasks.types y where y.table_id = this.v_table_id::pg_catalog.regclass;
  if not found then
    perform tasks.refuse('TQ004', pg_catalog.format('heartbeat: %%s is not registered', %3$s), 'Call tasks.register(schema, table).');
  end if;
  insert into tasks.leases as l (worker_id, table_id, leased_until)
  values ($1, this.v_table_id::pg_catalog.regclass, coalesce(this.v_now + tasks.elapsed(this.v_timeout), 'infinity'))
  on conflict on constraint leases_pkey do update set leased_until = excluded.leased_until;

  select pg_catalog.array_agg(g.id), pg_catalog.array_agg(g.reason) into gone_ids, gone_reasons
  from (
    select u.id,
      case
        when t.id is null then 'missing'
        when t.run_token = u.token then tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, this.v_now)
        when t.canceled then 'canceled'
        when t.execution_count = 0 then 'reset'
        else 'lost'
      end as reason
    from rows from (pg_catalog.unnest($2), pg_catalog.unnest($3)) as u (id, token)
    left join lateral (select s.* from %1$s s where s.id = u.id offset 0) t on true
    where t.id is null or t.run_token is distinct from u.token
      or not tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled)
  ) g;

  -- A worker that never got the answer to an acquire holds tasks that it doesn't know; its lease would cover them for ever.
  if $4 then
    select pg_catalog.array_agg(t.id), pg_catalog.array_agg(t.run_token) into stray_ids, stray_tokens
    from %1$s t
    where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
      and t.run_worker = $1 and t.id <> all ($2)
      and t.started_at < this.v_now - coalesce(tasks.elapsed(this.v_timeout) / 2, interval '30 s');
  end if;

  rescue_due := exists (
      select from tasks.leases l
      where l.table_id = this.v_table_id::pg_catalog.regclass and l.leased_until <= this.v_now)
    or exists (
      select from %1$s t
      where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
        and t.run_worker is null and t.run_until <= this.v_now);
  suspect_due := exists (
    select from %1$s t
    where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count >= 2
      and t.planned_to <= this.v_now);
end
$verb$
$format$,
    p_table, pg_catalog.quote_ident('heartbeat_' || p_name), pg_catalog.quote_literal(p_table))
$source$;
comment on function tasks.source_of_heartbeat(text, text) is
  'Source of heartbeat: renews the worker''s lease, names those of the given runs that are no longer its own, with the reason, and on request runs of its own that it did not give';

commit;
