-- 0005_create_clean_verbs: sources of clean and clean_before.
--
-- Flow: as in 0003. Ended tasks are deleted oldest first, from the index of their state, in batches of 1000.
-- A row that a user's foreign key or trigger holds is passed by; the rest of its batch goes.
-- Lock order: task rows in the order of their end, skip locked.

begin isolation level read committed;
select tasks.start_migration(5, 'create_clean_verbs');

create function tasks.source_of_clean_before(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('clean_before', p_table, p_name, $head$
create or replace function tasks.%2$s(
  finished_before pg_catalog.timestamptz, states pg_catalog.text[] default '{finished}', max_num bigint default null,
  options pg_catalog.jsonb default null
) returns bigint
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
$head$, $body$
#variable_conflict use_column
<<this>>
declare
  v_state pg_catalog.text;
  v_ids   bigint[];
  v_kept  bigint[] := '{}';
  v_from  integer;
  v_to    integer;
  v_batch bigint[];
  v_gone  bigint[];
  v_limit bigint;
  v_count bigint := 0;
begin
  if $1 is null then
    perform tasks.refuse('TQ003', 'clean_before: finished_before must not be NULL');
  elsif $2 is null or pg_catalog.cardinality($2) = 0 or not $2 <@ '{finished,failed,canceled}' then
    perform tasks.refuse('TQ003', pg_catalog.format('clean_before: states must name some of finished, failed, canceled, not %%s', coalesce($2::pg_catalog.text, 'NULL')));
  elsif $3 < 1 then
    perform tasks.refuse('TQ003', pg_catalog.format('clean_before: max_num must be at least 1, not %%s', $3), 'NULL: no limit.');
  end if;
  perform from tasks.types y where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('clean_before', %3$s);
  end if;
  foreach v_state in array $2 loop
    if this.v_state = 'canceled' then
      -- Canceled by an update of the user's own, which knew no canceled_at: its end is when we first see it.
      update %1$s t set canceled_at = tasks.clock()
      where t.id = any (array(
        select u.id from %1$s u
        where u.canceled and u.canceled_at is null limit 1000 for no key update skip locked));
    end if;
    loop
      v_limit := least(1000, coalesce($3 - this.v_count, 1000));
      -- With this many rows kept, looking past them again and again would be all that happens.
      exit when this.v_limit <= 0 or pg_catalog.cardinality(this.v_kept) > 10000;
      -- Each branch is planned on the index of its state. A canceled or finished row may carry another's end: ask the state too.
      if this.v_state = 'finished' then
        v_ids := array(
          select t.id from %1$s t
          where t.finished_at < $1 and t.id <> all (this.v_kept)
          order by t.finished_at limit this.v_limit for update skip locked);
      elsif this.v_state = 'failed' then
        v_ids := array(
          select t.id from %1$s t
          where t.failed_at < $1 and t.finished_at is null and not t.canceled and t.id <> all (this.v_kept)
          order by t.failed_at limit this.v_limit for update skip locked);
      else
        v_ids := array(
          select t.id from %1$s t
          where t.canceled_at < $1 and t.canceled and t.finished_at is null and t.id <> all (this.v_kept)
          order by t.canceled_at limit this.v_limit for update skip locked);
      end if;
      exit when pg_catalog.cardinality(this.v_ids) = 0;
      v_from := 1;
      v_to := pg_catalog.cardinality(this.v_ids);
      while this.v_from <= pg_catalog.cardinality(this.v_ids) loop
        v_batch := this.v_ids[this.v_from:this.v_to];
        begin
          with gone as (delete from %1$s t where t.id = any (this.v_batch) returning t.id)
          select coalesce(pg_catalog.array_agg(g.id), '{}') into this.v_gone from gone g;
          v_count := this.v_count + pg_catalog.cardinality(this.v_gone);
          if pg_catalog.cardinality(this.v_gone) < pg_catalog.cardinality(this.v_batch) then
            v_kept := this.v_kept || array(select b.id from pg_catalog.unnest(this.v_batch) b (id) where b.id <> all (this.v_gone));
          end if;
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
              v_kept := this.v_kept || this.v_batch;
              raise notice 'task %% of %% is kept: %%', this.v_batch[1], %3$s, sqlerrm;
              v_from := this.v_from + 1;
              v_to := pg_catalog.cardinality(this.v_ids);
            end if;
        end;
      end loop;
    end loop;
  end loop;
  return this.v_count;
end
$body$)
$source$;
comment on function tasks.source_of_clean_before(text, text) is
  'Source of clean_before: deletes tasks that ended before an instant, those of the given states, at most max_num; returns how many';

create function tasks.source_of_clean(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('clean', p_table, p_name, $head$
create or replace function tasks.%2$s(
  finished_after interval default null, states pg_catalog.text[] default '{finished}', max_num bigint default null,
  options pg_catalog.jsonb default null
) returns bigint
language plpgsql volatile
$head$, $body$
#variable_conflict use_column
<<this>>
declare
  v_storage interval;
begin
  select coalesce($1, y.storage_time) into this.v_storage from tasks.types y
  where y.table_id = %3$s::pg_catalog.regclass and y.function_name = %6$s;
  if not found then
    perform tasks.refuse_type('clean', %3$s);
  elsif this.v_storage is null then
    perform tasks.refuse('TQ003', pg_catalog.format('clean: finished_after is NULL and %%s has no storage_time', %3$s),
      'Give an interval, or set storage_time by tasks.configure.');
  end if;
  perform tasks.check_interval('clean: finished_after', this.v_storage);
  return tasks.%5$s(tasks.clock() - tasks.elapsed(this.v_storage), $2, $3, $4);
end
$body$)
$source$;
comment on function tasks.source_of_clean(text, text) is
  'Source of clean: deletes tasks that ended longer ago than finished_after (NULL: the type''s storage_time); returns how many';

commit;
