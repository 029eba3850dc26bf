-- Moves waiting tasks of one task identifier of graphile-worker (0.18, schema graphile_worker) into a task table, in the
-- transaction of the call: each is in exactly one of the two, whatever happens. Workers of both may run meanwhile: what
-- graphile-worker has locked is passed by. It reads tables that graphile-worker calls private, since nothing public of it
-- gives the payloads. Run payload-columns.sql before it, in the same session.
--
-- moved: how many went; running: left, graphile-worker is at them; used_up: left, their attempts are used up.

create or replace function pg_temp.move_from_graphile_worker(
  p_identifier text, p_table regclass, p_rename jsonb default '{}', p_max_num bigint default null
) returns table (moved bigint, running bigint, used_up bigint)
language plpgsql volatile
as $$
declare
  v_task_id integer := (select t.id from graphile_worker._private_tasks t where t.identifier = p_identifier);
  v_rows    jsonb;
begin
  with chosen as (
    select j.id from graphile_worker._private_jobs j
    where j.task_id = v_task_id and j.locked_at is null and j.attempts < j.max_attempts
    order by j.priority, j.run_at, j.id
    limit p_max_num
    for update skip locked
  ), taken as (
    delete from graphile_worker._private_jobs j using chosen c where j.id = c.id returning j.*
  )
  select jsonb_agg(
    pg_temp.payload_columns(p_table, t.payload::jsonb, p_rename)
      || pg_temp.if_column(p_table, 'job_key', t.key)
      || pg_temp.if_column(p_table, 'queue_name', q.queue_name)
      || jsonb_build_object(
        'planned_to', t.run_at,
        'created_at', t.created_at,
        -- Smaller goes first there too, and 0 is usual.
        'priority', case when t.priority < 0 then 0 when t.priority = 0 then 1 else 2 end,
        'execution_count', t.attempts)
      || case when t.last_error is null then '{}' else jsonb_build_object('last_error', left(t.last_error, 10000)) end
    order by t.priority, t.run_at, t.id) into v_rows
  from taken t left join graphile_worker._private_job_queues q on q.id = t.job_queue_id;

  perform from tasks.enqueue(p_table, coalesce(v_rows, '[]'));
  moved := coalesce(jsonb_array_length(v_rows), 0);
  select count(*) filter (where j.locked_at is not null), count(*) filter (where j.locked_at is null and j.attempts >= j.max_attempts)
    into running, used_up from graphile_worker._private_jobs j where j.task_id = v_task_id;
  return next;
end
$$;
