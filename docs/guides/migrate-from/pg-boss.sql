-- Moves waiting tasks of a pg-boss queue (12.38, schema pgboss) into a task table, in the transaction of the call: each is in
-- exactly one of the two, whatever happens. Workers of both may run meanwhile: what pg-boss has locked is passed by.
-- Run payload-columns.sql before it, in the same session.
--
-- moved: how many went; running: left, pg-boss is at them; linked: left, they wait for others or others wait for them (flow).

create or replace function pg_temp.move_from_pg_boss(
  p_queue text, p_table regclass, p_rename jsonb default '{}', p_max_num bigint default null
) returns table (moved bigint, running bigint, linked bigint)
language plpgsql volatile
as $$
declare
  v_rows jsonb;
begin
  with chosen as (
    select j.id from pgboss.job j
    where j.name = p_queue and j.state in ('created', 'retry') and not j.blocked and not j.blocking
    order by j.priority desc, j.created_on, j.id
    limit p_max_num
    for update skip locked
  ), taken as (
    delete from pgboss.job j using chosen c where j.name = p_queue and j.id = c.id returning j.*
  )
  select jsonb_agg(
    pg_temp.payload_columns(p_table, t.data, p_rename)
      || pg_temp.if_column(p_table, 'singleton_key', t.singleton_key)
      || pg_temp.if_column(p_table, 'group_id', t.group_id)
      || jsonb_build_object(
        'planned_to', t.start_after,
        'created_at', t.created_on,
        -- There larger goes first, and 0 is usual.
        'priority', case when t.priority > 0 then 0 when t.priority = 0 then 1 else 2 end,
        'execution_count', case when t.state = 'retry' then t.retry_count + 1 else 0 end)
      || case when t.state = 'retry' then jsonb_build_object('last_error', left(coalesce(t.output ->> 'message', t.output::text), 10000)) else '{}' end
    order by t.priority desc, t.created_on, t.id) into v_rows
  from taken t;

  perform from tasks.enqueue(p_table, coalesce(v_rows, '[]'));
  moved := coalesce(jsonb_array_length(v_rows), 0);
  select count(*) filter (where j.state = 'active'), count(*) filter (where j.state < 'active' and (j.blocked or j.blocking))
    into running, linked from pgboss.job j where j.name = p_queue;
  return next;
end
$$;
