-- 0003_create_acquire_verb: source of acquire, and what the sources of all verbs have in common.
--
-- Flow: each source_of_... returns the CREATE FUNCTION statement of one verb for one task table; register executes them.
-- %1$s is the quoted table, %2$s the verb's function, %3$s the table as a literal, %4$s the type's rescue function, %5$s its
-- clean_before function, %6$s its function name as a literal.
-- In the generated bodies a column always wins over a variable (a user's column may have any name), so arguments are
-- written $1, $2 ... and locals this.v_.... Types are qualified like everything else: a temporary table called "text" is a type.
-- The verbs pin planner settings and no search_path: a plan made while the table was tiny must not scan it once it is
-- large, and a user's triggers, which run inside, keep their path.
-- A row that a user's trigger refuses is never in the way of the others: a batch that fails is halved until the row is alone.
-- Lock order: the worker's lease while it lives (key share), task rows in index order, skip locked, then the lease where it
-- had ended.

begin isolation level read committed;
select tasks.start_migration(3, 'create_acquire_verb');

-- All verbs begin alike. The body is a literal: no name that stands in it can end it.
create function tasks.verb_source(p_verb text, p_table text, p_name text, p_signature text, p_body text) returns text
language sql immutable
as $$
  select pg_catalog.format('create or replace function tasks.%2$s' || p_signature, variadic w.words) || '
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
as ' || pg_catalog.quote_literal(pg_catalog.format('
#variable_conflict use_column
<<this>>' || p_body, variadic w.words))
  from (
    select array[
      p_table, pg_catalog.quote_ident(p_verb || '_' || p_name), pg_catalog.quote_literal(p_table),
      pg_catalog.quote_ident('rescue_' || p_name), pg_catalog.quote_ident('clean_before_' || p_name), pg_catalog.quote_literal(p_name)]
  ) as w (words)
$$;
comment on function tasks.verb_source(text, text, text, text, text) is 'CREATE FUNCTION statement of a verb from the templates of its signature and its body';

create function tasks.refuse_type(p_verb text, p_table text) returns void
language plpgsql volatile
as $$
begin
  perform tasks.refuse('TQ004', pg_catalog.format('%s: %s is not registered', p_verb, p_table),
    'Call tasks.register(schema, table), or tasks.refresh(table) after a rename.');
end
$$;
comment on function tasks.refuse_type(text, text) is 'Raises that a verb''s table is not, or no longer, the task type that the verb belongs to';

-- At COMMIT it would be too late: nobody could pass the row by any more, and everything else would fail with it, each time anew.
-- The names of constraints are those of their tables, and SET CONSTRAINTS takes all namesakes of a schema. Where one of them is not
-- deferred, deferring them again would be refused, or change it: there the setting is undone with the subtransaction that made
-- it, and what was checked is checked once more at COMMIT.
create function tasks.check_deferred(p_table regclass) returns void
language plpgsql volatile
as $$
declare
  v_constraint pg_catalog.record;
  v_passed     boolean;
begin
  for v_constraint in
    select pg_catalog.format('%I.%I', n.nspname, d.conname) as name, pg_catalog.bool_and(k.condeferred) as deferred
    from (
      select distinct k.connamespace, k.conname
      from pg_catalog.pg_trigger g
      join pg_catalog.pg_constraint k on k.oid = g.tgconstraint
      where g.tgrelid = p_table and g.tginitdeferred
    ) d
    join pg_catalog.pg_namespace n on n.oid = d.connamespace
    join pg_catalog.pg_constraint k on k.connamespace = d.connamespace and k.conname = d.conname
    where pg_catalog.has_schema_privilege(n.oid, 'usage')
    group by n.nspname, d.conname
  loop
    if v_constraint.deferred then
      execute pg_catalog.format('set constraints %s immediate', v_constraint.name);
      execute pg_catalog.format('set constraints %s deferred', v_constraint.name);
    else
      v_passed := false;
      begin
        execute pg_catalog.format('set constraints %s immediate', v_constraint.name);
        v_passed := true;
        raise 'undo';
      exception
        when others then
          if not v_passed then
            raise;
          end if;
      end;
    end if;
  end loop;
end
$$;
comment on function tasks.check_deferred(regclass) is
  'Raises at once what deferred constraints and constraint triggers of a table, and foreign keys that refer to it, would raise at COMMIT';

create function tasks.refuse_acquire(p_max_num integer, p_worker_id uuid, p_options jsonb) returns void
language plpgsql volatile
as $$
begin
  if p_max_num is null or p_max_num < 1 or p_max_num > 10000 then
    perform tasks.refuse('TQ003', pg_catalog.format('acquire: max_num must be between 1 and 10000, not %s', coalesce(p_max_num::text, 'NULL')));
  elsif p_worker_id = '00000000-0000-0000-0000-000000000000' then
    perform tasks.refuse('TQ003', 'acquire: worker_id must not be the nil uuid', 'Take a random one, new at each start of the worker.');
  end if;
  perform tasks.refuse('TQ003', pg_catalog.format('acquire: options must be {"one_transaction": true}, with a worker_id, or NULL, not %s', p_options));
end
$$;
comment on function tasks.refuse_acquire(integer, uuid, jsonb) is 'Raises which argument of acquire is wrong';

-- Of the priorities before the last one that was walked, and of all of them after a short walk, nothing is left.
create function tasks.walk_past(
  inout walked_to timestamptz[], inout walked_id bigint[], p_short boolean, p_priority integer, p_planned_to timestamptz, p_task_id bigint
) returns record
language sql immutable
as $$
  select
    pg_catalog.array_agg(case
      when p_short or n <= p_priority then 'infinity' when n = p_priority + 1 then p_planned_to else walked_to[n] end order by n),
    pg_catalog.array_agg(case when n = p_priority + 1 then p_task_id else walked_id[n] end order by n)
  from pg_catalog.generate_series(1, 4) as n
$$;
comment on function tasks.walk_past(timestamptz[], bigint[], boolean, integer, timestamptz, bigint) is
  'Moves the places up to which acquire has walked, one per priority, past the task that it picked last; p_short: it got fewer than it asked for';

-- A cursor's parts: when it was written, when the next sweep may be, planned_to and id per priority, and whether its acquire
-- was a sweep. Behind the last second there may be commits to come, so a cursor never passes it.
create function tasks.write_cursor(
  p_table_id regclass, p_began timestamptz, p_sweep boolean, p_next_sweep text, p_floor timestamptz, p_at timestamptz[], p_id bigint[]
) returns text
language sql volatile
as $$
  select pg_catalog.set_config(
    'pg_tasks.cursor_' || p_table_id::pg_catalog.oid,
    pg_catalog.concat_ws(' ',
      extract(epoch from p_began),
      case when p_sweep
        then (extract(epoch from p_began) + 20 * extract(epoch from pg_catalog.clock_timestamp() - p_began))::pg_catalog.text
        else p_next_sweep end,
      (select pg_catalog.string_agg(
          case when p_at[n] > p_floor
            then extract(epoch from p_floor) || ' -9223372036854775808'
            else extract(epoch from p_at[n]) || ' ' || p_id[n] end,
          ' ' order by n)
        from pg_catalog.generate_series(1, 4) as n),
      p_sweep::pg_catalog.text),
    false)
$$;
comment on function tasks.write_cursor(regclass, timestamptz, boolean, text, timestamptz, timestamptz[], bigint[]) is
  'Remembers in the session where an acquire ended: the last planned_to and id per priority';

create function tasks.source_of_acquire(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('acquire', p_table, p_name, $signature$(
  max_num integer, worker_id pg_catalog.uuid default null, slots_empty boolean default true, options pg_catalog.jsonb default null
) returns setof %1$s$signature$, $body$
-- For a single task, half of the cost is the number of statements and expressions here: what is needed always is asked for in
-- one, and what is needed seldom stays behind an IF.
declare
  v_type        tasks.types;
  v_table_id    pg_catalog.regclass;
  v_limited     boolean;
  v_keyed       boolean;
  v_timeout     interval;
  v_max_retries integer;
  v_now         pg_catalog.timestamptz;
  v_until       pg_catalog.timestamptz;
  v_began       pg_catalog.timestamptz;
  v_floor       pg_catalog.timestamptz;
  v_leased      boolean;
  v_suspects    boolean;
  v_deferred    boolean;
  v_cursor      pg_catalog.text[];
  v_sweep       boolean := true;
  v_at          pg_catalog.timestamptz[] := array['-infinity', '-infinity', '-infinity', '-infinity'];
  v_id          bigint[] := array[-9223372036854775808, -9223372036854775808, -9223372036854775808, -9223372036854775808];
  v_taken_room  integer;
  v_room        integer;
  v_most        integer;
  v_passed      bigint[];
  v_picked      bigint[];
  v_walked      bigint[];
  v_from        integer;
  v_to          integer;
  v_batch       bigint[];
  v_count       integer;
  v_wanted      integer;
  v_claimed     bigint[] := '{}';
  v_one         bigint;
begin
  if ($1 between 1 and 10000 and $2 is distinct from '00000000-0000-0000-0000-000000000000'
    and ($4 is null or $2 is not null and $4 = '{"one_transaction": true}')) is not true
  then
    perform tasks.refuse_acquire($1, $2, $4);
  end if;
  loop
    -- The key share lock on the worker's lease holds a rescue off until these rows are committed: it never misses them. Nobody
    -- sees the claim of one_transaction before it is over (0026): it needs no lease, and suspects aren't run like that.
    select y.table_id, y.limited, y.key_columns is not null, y.timeout, y.max_retries, coalesce(this.v_taken_room, $1),
      c.now, pg_catalog.clock_timestamp(), case when $2 is null then c.now + tasks.elapsed(y.timeout) end,
      case when $2 is null or $4 is not null then true
        when not y.limited or this.v_taken_room is not null then (
          select true from tasks.leases l
          where l.worker_id = $2 and l.table_id = y.table_id and l.leased_until > c.now
          for key share)
      end is true,
      $4 is null and coalesce($3, true) and exists (
        select from %1$s t
        where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count >= 2 and not t.held
          and t.planned_to <= c.now),
      case when $2 is not null then pg_catalog.string_to_array(
        nullif(pg_catalog.current_setting('pg_tasks.cursor_' || y.table_id::pg_catalog.oid, true), ''), ' ') end,
      exists (
        select from pg_catalog.pg_trigger g
        where g.tgrelid = y.table_id and g.tginitdeferred and not g.tgisinternal and g.tgtype & 16 <> 0)
    into this.v_table_id, this.v_limited, this.v_keyed, this.v_timeout, this.v_max_retries, this.v_room,
      this.v_now, this.v_began, this.v_until, this.v_leased, this.v_suspects, this.v_cursor,
      this.v_deferred
    from tasks.types y, (select tasks.clock() as now) c
    where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
    if not found then
      perform tasks.refuse_type('acquire', %3$s);
    end if;
    exit when not this.v_limited or this.v_taken_room is not null;
    if $4 is not null then
      -- A limit is decided under a lock that ends with the transaction: others would wait for the whole batch.
      return;
    end if;
    select y.* into this.v_type from tasks.types y where y.table_id = this.v_table_id;
    v_taken_room := tasks.take_room(this.v_type, $1);
    -- A caller without a worker has nobody who rescues for it: those who died may be the ones who take all the places.
    if this.v_taken_room < 1 and $2 is null and this.v_type.paused_at is null and tasks.%4$s() > 0 then
      v_taken_room := tasks.take_room(this.v_type, $1);
    end if;
    if this.v_taken_room < 1 then
      return;
    end if;
    -- It may have waited for another acquire: the settings of now count, and the time of now, so that no run begins before the
    -- one ended whose place it takes.
  end loop;
  if this.v_limited then
    select y.* into this.v_type from tasks.types y where y.table_id = this.v_table_id;
  end if;
  if $2 is null then
    perform tasks.%4$s();
    v_suspects := coalesce($3, true);
  end if;

  -- The cursor: where this session's last acquire ended, so that index entries that are dead but still visible to an old
  -- snapshot are stepped over. A full sweep finds what was committed, released or re-planned behind it; sweeps take at most
  -- a twentieth of the time. A cursor from the future is one from before the clock was set back.
  if this.v_cursor is not null and this.v_began >= pg_catalog.to_timestamp(this.v_cursor[1]::double precision)
    and this.v_began < pg_catalog.to_timestamp(this.v_cursor[2]::double precision)
  then
    v_sweep := false;
    v_floor := this.v_now - interval '1 s';
    for v_priority in 1..4 loop
      v_at[v_priority] := pg_catalog.to_timestamp(this.v_cursor[v_priority * 2 + 1]::double precision);
      v_id[v_priority] := this.v_cursor[v_priority * 2 + 2]::bigint;
      if this.v_at[v_priority] > this.v_floor then
        v_at[v_priority] := this.v_floor;
        v_id[v_priority] := -9223372036854775808;
      end if;
    end loop;
  end if;

  -- More than one round only where rows are picked that can't be claimed.
  for v_round in 1..1000 loop
    if v_round > 1 then
      select w.walked_to, w.walked_id into this.v_at, this.v_id
      from (values (true)) as one
      left join %1$s t on t.id = this.v_walked[pg_catalog.cardinality(this.v_walked)]
      cross join lateral tasks.walk_past(
        this.v_at, this.v_id, pg_catalog.cardinality(this.v_walked) < this.v_most, t.priority, t.planned_to, t.id) w;
    end if;
    v_most := this.v_room - pg_catalog.cardinality(this.v_claimed);
    if this.v_keyed and v_round > 1 then
      -- Of many tasks that wait for few keys, enough are judged at once; where the first look suffices, no more than that.
      v_most := greatest(this.v_most, 100);
    end if;
    if this.v_suspects then
      -- Suspects run alone.
      v_picked := array(
        select t.id from %1$s t
        where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count >= 2 and not t.held
          and t.planned_to <= this.v_now and t.id <> all (coalesce(this.v_passed, '{}'))
        order by t.planned_to, t.id limit 1 for no key update skip locked);
      v_passed := this.v_passed || this.v_picked;
      v_suspects := pg_catalog.cardinality(this.v_picked) > 0;
    end if;
    if not this.v_suspects then
      -- Priority after priority, each in the order of its index; the next one is looked at, and locked, only while there is room.
      v_picked := array(
        select s.id from (values (1), (2), (3), (4)) as p (n)
        cross join lateral (
          select t.id from %1$s t
          where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count < 2 and not t.held
            and t.priority = p.n - 1
            and t.planned_to <= this.v_now
            and (t.planned_to, t.id) > (this.v_at[p.n], this.v_id[p.n])
          order by t.planned_to, t.id
          limit this.v_most
          for no key update skip locked) s
        limit this.v_most);
      v_walked := this.v_picked;
    end if;
    exit when pg_catalog.cardinality(this.v_picked) = 0;
    if not this.v_leased then
      -- Not earlier: an idle worker that looks would leave a dead lease behind, which all the others would come to rescue.
      insert into tasks.leases as l (worker_id, table_id, leased_until)
      values ($2, this.v_table_id, coalesce(this.v_now + tasks.elapsed(this.v_timeout), 'infinity'))
      on conflict on constraint leases_pkey do update set leased_until = excluded.leased_until;
      v_leased := true;
    end if;
    v_wanted := pg_catalog.cardinality(this.v_claimed) + pg_catalog.cardinality(this.v_picked);
    if this.v_keyed then
      v_picked := tasks.admit(this.v_type, this.v_picked);
      v_picked := this.v_picked[1:this.v_room - pg_catalog.cardinality(this.v_claimed)];
      -- What made room may have ended since the time was taken: a run begins after the one whose place it takes.
      v_now := tasks.clock();
    end if;

    v_from := 1;
    v_to := pg_catalog.cardinality(this.v_picked);
    v_batch := this.v_picked;
    loop
      begin
        -- A token is 8 random bytes of this statement and the 8 of the id: as good as 16 random ones, at a fifth of the cost.
        update %1$s t set
          started_at = this.v_now,
          execution_count = case when t.execution_count < 2147483647 then t.execution_count + 1 else t.execution_count end,
          run_token = pg_catalog.encode(
            (select pg_catalog.substr(pg_catalog.uuid_send(pg_catalog.gen_random_uuid()), 9)) || pg_catalog.int8send(t.id), 'hex')::pg_catalog.uuid,
          run_worker = $2,
          run_until = this.v_until
        where t.id = any (this.v_batch) and (this.v_max_retries is null or t.execution_count <= this.v_max_retries);
        get diagnostics v_count = row_count;
        if this.v_deferred then
          perform tasks.check_deferred(this.v_table_id);
        end if;
        if this.v_count < pg_catalog.cardinality(this.v_batch) then
          v_batch := array(
            select t.id from %1$s t
            where t.id = any (this.v_batch) and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled));
        end if;
        v_claimed := this.v_claimed || this.v_batch;
        v_from := this.v_to + 1;
      exception
        when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available
          or insufficient_privilege or undefined_table or undefined_function or undefined_column then
          raise;
        when others then
          if this.v_from < this.v_to then
            v_to := (this.v_from + this.v_to) / 2;
            v_batch := this.v_picked[this.v_from:this.v_to];
            continue;
          end if;
          raise warning 'task %% of %% could not be acquired: %%', this.v_picked[this.v_from], %3$s, sqlerrm;
          v_from := this.v_from + 1;
      end;
      exit when this.v_from > pg_catalog.cardinality(this.v_picked);
      v_to := pg_catalog.cardinality(this.v_picked);
      v_batch := this.v_picked[this.v_from:this.v_to];
    end loop;
    exit when pg_catalog.cardinality(this.v_claimed) = this.v_wanted;

    -- Picked and not claimed: used up (failed, so that it leaves the index), or kept back by a trigger of the user's.
    foreach v_one in array array(
      select t.id from %1$s t
      where t.id = any (this.v_picked) and t.id <> all (this.v_claimed) and t.execution_count > this.v_max_retries)
    loop
      begin
        update %1$s t set
          failed_at = this.v_now,
          failure_reason = case when t.lost_count > 0 then 'lost' else 'error' end,
          last_error = coalesce(t.last_error, 'executions used up: max_retries is ' || this.v_max_retries)
        where t.id = this.v_one;
        if this.v_deferred then
          perform tasks.check_deferred(this.v_table_id);
        end if;
      exception
        when transaction_rollback or insufficient_resources or operator_intervention then
          raise;
        when others then
          raise warning 'task %% of %% has no executions left and could not be failed: %%', this.v_one, %3$s, sqlerrm;
      end;
    end loop;
    exit when pg_catalog.cardinality(this.v_claimed) >= this.v_room;
  end loop;

  -- Where a walk was short, no cursor is needed. After a sweep that was not, the first acquire that is none says so: next_due reads it.
  if not this.v_keyed and $2 is not null
    and (pg_catalog.clock_timestamp() > this.v_began + interval '200 us' or not this.v_sweep and this.v_cursor[11] = 'true')
  then
    perform tasks.write_cursor(
      this.v_table_id, this.v_began, this.v_sweep, this.v_cursor[2], this.v_now - interval '1 s', w.walked_to, w.walked_id)
    from (values (true)) as one
    left join %1$s t on t.id = this.v_walked[pg_catalog.cardinality(this.v_walked)]
    cross join lateral tasks.walk_past(
      this.v_at, this.v_id, pg_catalog.cardinality(this.v_walked) < this.v_most, t.priority, t.planned_to, t.id) w;
  end if;

  if pg_catalog.cardinality(this.v_claimed) > 0 then
    if this.v_limited and this.v_type.rate_count is not null then
      perform tasks.spend_rate(this.v_type, pg_catalog.cardinality(this.v_claimed), this.v_now);
    end if;
    return query
      -- Without a token it was kept as it is, by a trigger that returns OLD.
      select t.* from %1$s t where t.id = any (this.v_claimed) and t.run_token is not null order by t.priority, t.planned_to, t.id;
  end if;
end
$body$)
$source$;
comment on function tasks.source_of_acquire(text, text) is 'Source of acquire: claims up to max_num due tasks in the order priority, planned_to, id, and returns them';

commit;
