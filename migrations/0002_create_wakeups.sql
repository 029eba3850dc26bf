-- 0002_create_wakeups: the notify trigger and the locks by which workers say that they sleep or are awake.
--
-- Flow: three advisory lock classes, each with the table's oid as second key.
--   1886415981 INFLIGHT  an enqueuing transaction holds it shared until it ends.
--   1886415982 SLEEP     a sleeping worker holds it shared.
--   1886415983 AWAKE     one of the workers that will look again by themselves holds it exclusively.
-- An enqueuer takes INFLIGHT, then probes SLEEP, then AWAKE; a worker listens, takes SLEEP, looks, waits until INFLIGHT was
-- free once, looks again and sleeps. Whichever order the two meet in, the task is seen by a look or announced by the commit.
-- Every probe errs to the safe side: a collision of two probes makes a notification too many, never one too few.
-- A killed session drops its locks by itself. No table is written, no enqueuer waits.
-- Locks: none on tables.

begin isolation level read committed;
select tasks.start_migration(2, 'create_wakeups');

-- Everything is qualified, operators too, instead of a search_path of its own: setting that costs a fortieth of an insert,
-- and what the path shadows is not reached either way.
create or replace function tasks.notify_workers() returns trigger
language plpgsql volatile
as $$
begin
  -- One expression: between statements the session could be canceled, and would keep a probe's lock for good.
  if pg_catalog.pg_try_advisory_xact_lock_shared(1886415981, tg_relid::pg_catalog.int4)
    and (pg_catalog.pg_try_advisory_lock(1886415982, tg_relid::pg_catalog.int4)
      and pg_catalog.pg_advisory_unlock(1886415982, tg_relid::pg_catalog.int4))
    and not (pg_catalog.pg_try_advisory_lock_shared(1886415983, tg_relid::pg_catalog.int4)
      and pg_catalog.pg_advisory_unlock_shared(1886415983, tg_relid::pg_catalog.int4))
  then
    return null; -- nobody sleeps and somebody is about to look
  end if;

  -- Statement triggers fire for statements that touched nothing; a transition table would tell, for a tenth of a single
  -- insert. A transaction without a number has written nothing. The counter may still hold rows of the session's last
  -- transactions, so it can err by a notification too many.
  if pg_catalog.pg_current_xact_id_if_assigned() is null
    or (case when tg_op operator(pg_catalog.=) 'INSERT' then pg_catalog.pg_stat_get_xact_tuples_inserted(tg_relid)
        else pg_catalog.pg_stat_get_xact_tuples_updated(tg_relid) end) operator(pg_catalog.=) 0
      and pg_catalog.current_setting('track_counts') operator(pg_catalog.=) 'on'
  then
    return null;
  end if;

  -- A full queue would fail the caller's commit; the poll finds the task as well.
  if pg_catalog.pg_notification_queue_usage() operator(pg_catalog.<) 0.5 then
    perform pg_catalog.pg_notify('pg_tasks', pg_catalog.concat(tg_table_schema, '.', tg_table_name));
  end if;
  return null;
end
$$;
comment on function tasks.notify_workers() is 'Trigger: announces enqueued or re-planned tasks on the channel pg_tasks unless an awake worker will see them anyway';

create function tasks.fall_asleep(p_table_id oid) returns void
language sql volatile
as 'select pg_catalog.pg_advisory_lock_shared(1886415982, p_table_id::integer)';
comment on function tasks.fall_asleep(oid) is 'Worker: from now on every commit of another session that enqueues notifies; held by the session until tasks.wake_up';

create function tasks.wake_up(p_table_id oid) returns boolean
language sql volatile
as 'select pg_catalog.pg_advisory_unlock_shared(1886415982, p_table_id::integer)';
comment on function tasks.wake_up(oid) is 'Worker: takes tasks.fall_asleep back';

create function tasks.nothing_in_flight(p_table_id oid) returns boolean
language sql volatile
as $$
  -- One expression, as in the trigger.
  select pg_catalog.pg_try_advisory_lock(1886415981, p_table_id::integer)
    and pg_catalog.pg_advisory_unlock(1886415981, p_table_id::integer)
$$;
comment on function tasks.nothing_in_flight(oid) is 'Worker: whether no transaction that enqueued before it fell asleep is still open';

create function tasks.stay_awake(p_table_id oid) returns boolean
language sql volatile
as 'select pg_catalog.pg_try_advisory_lock(1886415983, p_table_id::integer)';
comment on function tasks.stay_awake(oid) is 'Worker: promises to look again by itself; true when this session holds the promise, false when another does';

create function tasks.stop_awake(p_table_id oid) returns boolean
language sql volatile
as 'select pg_catalog.pg_advisory_unlock(1886415983, p_table_id::integer)';
comment on function tasks.stop_awake(oid) is 'Worker: takes tasks.stay_awake back';

commit;
