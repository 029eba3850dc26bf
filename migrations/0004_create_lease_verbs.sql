-- 0004_create_lease_verbs: sources of rescue and heartbeat, and close_lease.
--
-- Flow: as in 0003.
-- Lock order of rescue: dead leases by worker, then task rows, all of them skip locked: who waits for a lease (acquire,
-- heartbeat, close_lease) waits for no rescue that waits for a lease or a task. It does wait until the transaction of the rescue
-- ends: a worker whose lease was over stands still meanwhile. heartbeat and close_lease lock the one lease.

begin isolation level read committed;
select tasks.start_migration(4, 'create_lease_verbs');

create function tasks.source_of_rescue(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('rescue', p_table, p_name, $signature$() returns bigint$signature$, $body$
declare
  v_type   tasks.types;
  v_now    pg_catalog.timestamptz := tasks.clock();
  v_strict boolean := pg_catalog.current_setting('transaction_isolation') not in ('read committed', 'read uncommitted');
  v_worker pg_catalog.uuid := '00000000-0000-0000-0000-000000000000';
  v_kept   bigint[];
  v_ids    bigint[];
  v_from   integer;
  v_to     integer;
  v_batch  bigint[];
  v_count  bigint := 0;
begin
  select y.* into this.v_type from tasks.types y
  where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('rescue', %3$s);
  end if;
  -- In a stricter isolation the snapshot may be older than the lease or the run that it would judge. Locking tells (40001): what
  -- has changed since is left to a later call. So is a lease that isn't there, for which there is nothing to lock.
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
      where l.worker_id = this.v_worker and l.table_id = this.v_type.table_id and l.leased_until > this.v_now;
      continue workers when found;
      begin
        perform from tasks.leases l
        where l.worker_id = this.v_worker and l.table_id = this.v_type.table_id
        for update skip locked;
      exception
        when serialization_failure then
          continue workers;
      end;
      if not found then
        perform from tasks.leases l
        where l.worker_id = this.v_worker and l.table_id = this.v_type.table_id;
        continue workers when found or this.v_strict;
      end if;
      -- It was renewed while we came to it.
      perform from tasks.leases l
      where l.worker_id = this.v_worker and l.table_id = this.v_type.table_id and l.leased_until > this.v_now;
      continue workers when found;
    end if;
    v_kept := '{}';
    loop
      -- In the order of the index, named whole: by id, the planner walks the table; by run_until alone, it sorts. Nothing
      -- waits for a lock here, so that the order doesn't matter to deadlocks.
      begin
        if this.v_worker is not null then
          v_ids := array(
            select t.id from %1$s t
            where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
              and t.run_worker = this.v_worker and t.id <> all (this.v_kept)
            order by t.run_worker, t.run_until limit 1000 for no key update skip locked);
        else
          v_ids := array(
            select t.id from %1$s t
            where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
              and t.run_worker is null and t.run_until <= this.v_now and t.id <> all (this.v_kept)
            order by t.run_worker, t.run_until limit 1000 for no key update skip locked);
        end if;
      exception
        when serialization_failure then
          exit;
      end;
      exit when pg_catalog.cardinality(this.v_ids) = 0;
      v_from := 1;
      v_to := pg_catalog.cardinality(this.v_ids);
      while this.v_from <= pg_catalog.cardinality(this.v_ids) loop
        v_batch := this.v_ids[this.v_from:this.v_to];
        begin
          update %1$s t set
            lost_count = least(t.lost_count, 32766) + 1,
            started_at = case when t.execution_count <= coalesce(this.v_type.max_retries, 2147483647) then null else t.started_at end,
            planned_to = case when t.lost_count >= 1
              then this.v_now + tasks.backoff(this.v_type.backoff_base, this.v_type.backoff_max, t.lost_count - 1)
              else t.planned_to end,
            failed_at = case when t.execution_count <= coalesce(this.v_type.max_retries, 2147483647) then null else this.v_now end,
            failure_reason = case when t.execution_count <= coalesce(this.v_type.max_retries, 2147483647) then null else 'lost' end,
            last_error = 'lease ended without an outcome (execution ' || t.execution_count || ')',
            run_token = null, run_worker = null, run_until = null
          where t.id = any (this.v_batch);
          perform tasks.check_deferred(this.v_type.table_id);
          v_count := this.v_count + pg_catalog.cardinality(this.v_batch);
          -- A trigger of the user's keeps some as they are.
          v_batch := array(
            select t.id from %1$s t
            where t.id = any (this.v_batch) and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled));
          v_count := this.v_count - pg_catalog.cardinality(this.v_batch);
          v_kept := this.v_kept || this.v_batch;
          v_from := this.v_to + 1;
          v_to := pg_catalog.cardinality(this.v_ids);
        exception
          when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available
            or insufficient_privilege or undefined_table or undefined_function or undefined_column then
            raise;
          when others then
            if this.v_from < this.v_to then
              v_to := (this.v_from + this.v_to) / 2;
            else
              raise warning 'task %% of %% could not be rescued: %%', this.v_ids[this.v_from], %3$s, sqlerrm;
              v_kept := this.v_kept || this.v_ids[this.v_from];
              v_from := this.v_from + 1;
              v_to := pg_catalog.cardinality(this.v_ids);
            end if;
        end;
      end loop;
    end loop;
    exit workers when this.v_worker is null;
    -- Rows that somebody's open transaction holds stay with the lease; the next rescue looks again.
    delete from tasks.leases l
    where l.worker_id = this.v_worker and l.table_id = this.v_type.table_id and l.leased_until <= this.v_now
      and not exists (
        select from %1$s t
        where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
          and t.run_worker = this.v_worker);
  end loop;

  -- Dead leases that cover nothing.
  if this.v_strict then
    return this.v_count;
  end if;
  delete from tasks.leases l
  where (l.worker_id, l.table_id) in (
      select d.worker_id, d.table_id from tasks.leases d
      where d.table_id = this.v_type.table_id and d.leased_until <= this.v_now
      order by d.worker_id for update skip locked)
    and l.leased_until <= this.v_now
    and not exists (
      select from %1$s t
      where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
        and t.run_worker = l.worker_id);
  return this.v_count;
end
$body$)
$source$;
comment on function tasks.source_of_rescue(text, text) is 'Source of rescue: brings back the running tasks whose lease has ended; returns how many';

create function tasks.source_of_heartbeat(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('heartbeat', p_table, p_name, $signature$(
  worker_id pg_catalog.uuid, task_ids bigint[], run_tokens pg_catalog.uuid[], find_strays boolean default false,
  out gone_ids bigint[], out gone_reasons pg_catalog.text[], out rescue_due boolean, out suspect_due boolean,
  out stray_ids bigint[], out stray_tokens pg_catalog.uuid[]
) returns pg_catalog.record$signature$, $body$
declare
  v_type tasks.types;
  v_now  pg_catalog.timestamptz := tasks.clock();
begin
  if $1 is null or $1 = '00000000-0000-0000-0000-000000000000' then
    perform tasks.refuse('TQ003', 'heartbeat: worker_id must be neither NULL nor the nil uuid');
  elsif pg_catalog.cardinality($2) is distinct from pg_catalog.cardinality($3) then
    perform tasks.refuse('TQ003', 'heartbeat: task_ids and run_tokens must be arrays of the same length');
  end if;
  select y.* into this.v_type from tasks.types y
  where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('heartbeat', %3$s);
  end if;
  insert into tasks.leases as l (worker_id, table_id, leased_until)
  values ($1, this.v_type.table_id, coalesce(this.v_now + tasks.elapsed(this.v_type.timeout), 'infinity'))
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
      and t.started_at < this.v_now - coalesce(tasks.elapsed(this.v_type.timeout) / 2, interval '30 s');
  end if;

  rescue_due := exists (
      select from tasks.leases l
      where l.table_id = this.v_type.table_id and l.leased_until <= this.v_now)
    or exists (
      select from %1$s t
      where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
        and t.run_worker is null and t.run_until <= this.v_now);
  suspect_due := exists (
    select from %1$s t
    where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count >= 2 and not t.held
      and t.planned_to <= this.v_now);
end
$body$)
$source$;
comment on function tasks.source_of_heartbeat(text, text) is
  'Source of heartbeat: renews the worker''s lease, names those of the given runs that are no longer its own, with the reason, and on request runs of its own that it did not give';

-- An acquire under way holds the lease by its key share lock. Having waited for it, what it claimed is seen: the lease stays.
create function tasks.close_lease(p_worker_id uuid, p_table_id oid) returns boolean
language plpgsql volatile
as $$
declare
  v_table text := tasks.quoted(p_table_id::regclass);
  v_held  boolean := false;
begin
  perform from tasks.leases l where l.worker_id = p_worker_id and l.table_id = p_table_id::regclass for update;
  if not found then
    return true;
  end if;
  if v_table is not null then
    execute pg_catalog.format('select exists (select from %s t where t.started_at is not null and t.finished_at is null
      and t.failed_at is null and not t.canceled and t.run_worker = $1)', v_table)
    into v_held using p_worker_id;
  end if;
  if not v_held then
    delete from tasks.leases l where l.worker_id = p_worker_id and l.table_id = p_table_id::regclass;
  end if;
  return not v_held;
end
$$;
comment on function tasks.close_lease(uuid, oid) is 'Gives a worker''s lease back; false, and it stays, while the worker has running tasks of the type';

commit;
