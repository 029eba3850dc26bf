-- 0005_create_next_due_verb: source of next_due.
--
-- Flow: as in 0003. A worker asks it before it sleeps.
-- Locks: none.

begin isolation level read committed;
select tasks.start_migration(5, 'create_next_due_verb');

create function tasks.source_of_next_due(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('next_due', p_table, p_name, $signature$(
  worker_id pg_catalog.uuid default null, slots_empty boolean default true,
  out ready_in double precision, out rescue_in double precision, out sweep_in double precision, out later_in double precision
) returns pg_catalog.record$signature$, $body$
declare
  v_table_id pg_catalog.oid := %3$s::pg_catalog.regclass;
  v_now      pg_catalog.timestamptz := tasks.clock();
  v_began    pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_cursor   pg_catalog.text[];
  v_due      pg_catalog.timestamptz;
  v_next     pg_catalog.timestamptz := 'infinity';
  v_later    pg_catalog.timestamptz := 'infinity';
  v_end      pg_catalog.timestamptz;
  v_floor    pg_catalog.timestamptz := '-infinity';
  v_type     tasks.types;
  v_room_in  double precision;
begin
  -- What the last acquire left behind the cursor, because no sweep was allowed, isn't walked here either. After a sweep there is
  -- nothing to sweep for: an idle worker sleeps.
  v_cursor := pg_catalog.string_to_array(nullif(pg_catalog.current_setting('pg_tasks.cursor_' || this.v_table_id, true), ''), ' ');
  if $1 is not null and this.v_cursor is not null and this.v_began >= pg_catalog.to_timestamp(this.v_cursor[1]::double precision)
    and this.v_began < pg_catalog.to_timestamp(this.v_cursor[2]::double precision) and this.v_cursor[11] = 'false'
  then
    v_floor := this.v_now - interval '1 s';
    sweep_in := 1000 * (this.v_cursor[2]::double precision - pg_catalog.date_part('epoch', this.v_began));
  end if;
  <<walk>>
  for v_priority in 0..3 loop
    v_due := (
      select t.planned_to from %1$s t
      where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count < 2 and not t.held
        and t.priority = walk.v_priority and t.planned_to >= this.v_floor
      order by t.planned_to limit 1);
    v_next := least(this.v_next, coalesce(this.v_due, 'infinity'));
    if this.v_due <= this.v_now then
      -- The last acquire did not get it: locked, or kept back by a trigger. It shall not hide the next one that will be due.
      v_due := (
        select t.planned_to from %1$s t
        where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count < 2 and not t.held
          and t.priority = walk.v_priority and t.planned_to > this.v_now
        order by t.planned_to limit 1);
    end if;
    v_later := least(this.v_later, coalesce(this.v_due, 'infinity'));
  end loop;
  if coalesce($2, true) then
    v_due := (
      select t.planned_to from %1$s t
      where t.started_at is null and t.finished_at is null and t.failed_at is null and not t.canceled and t.lost_count >= 2 and not t.held
      order by t.planned_to limit 1);
    v_next := least(this.v_next, coalesce(this.v_due, 'infinity'));
  end if;
  v_end := (
    select t.run_until from %1$s t
    where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
      and t.run_worker is null and t.run_until is not null
    order by t.run_worker, t.run_until limit 1);
  v_end := least(this.v_end, (
    select pg_catalog.min(l.leased_until) from tasks.leases l
    where l.table_id = this.v_table_id::pg_catalog.regclass and l.worker_id is distinct from $1));
  select y.* into this.v_type from tasks.types y where y.table_id = this.v_table_id::pg_catalog.regclass;
  if this.v_type.limited then
    if this.v_type.key_columns is not null and tasks.has_freed(this.v_type) then
      v_next := this.v_now;
    end if;
    if this.v_next < 'infinity' then
      v_room_in := tasks.room_in(this.v_type, this.v_now);
      v_next := case when this.v_room_in is null then 'infinity'
        else greatest(this.v_next, this.v_now + pg_catalog.make_interval(secs => this.v_room_in / 1000)) end;
    end if;
  end if;
  -- Infinite times can't be subtracted before PostgreSQL 17.
  ready_in := case
    when this.v_next <= this.v_now then 0
    when this.v_next < 'infinity' then 1000 * pg_catalog.date_part('epoch', this.v_next - this.v_now) end;
  later_in := case when this.v_next <= this.v_now and this.v_later < 'infinity' then 1000 * pg_catalog.date_part('epoch', this.v_later - this.v_now) end;
  rescue_in := case
    when this.v_end <= this.v_now then 0
    when this.v_end < 'infinity' then 1000 * pg_catalog.date_part('epoch', this.v_end - this.v_now) end;
end
$body$)
$source$;
comment on function tasks.source_of_next_due(text, text) is
  'Source of next_due: milliseconds until a task is due, until a lease of others ends, until acquire may sweep again, and, where a task is due already, until another one is; NULL: none';

commit;
