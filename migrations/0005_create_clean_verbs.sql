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
  select pg_catalog.format($format$
create or replace function tasks.%2$s(
  finished_before timestamptz, states text[] default '{finished}', max_num bigint default null, options jsonb default null
) returns bigint
language plpgsql volatile
set enable_seqscan to off
set enable_bitmapscan to off
set plan_cache_mode to force_generic_plan
as $verb$
#variable_conflict use_column
<<this>>
declare
  v_state text;
  v_ids   bigint[];
  v_held  bigint[] := '{}';
  v_one   bigint;
  v_some  bigint;
  v_limit bigint;
  v_count bigint := 0;
begin
  if $1 is null then
    perform tasks.refuse('TQ003', 'clean_before: finished_before must not be NULL');
  elsif $2 is null or pg_catalog.cardinality($2) = 0 or not $2 <@ '{finished,failed,canceled}' then
    perform tasks.refuse('TQ003', 'clean_before: states must name some of finished, failed, canceled');
  elsif $3 < 1 then
    perform tasks.refuse('TQ003', pg_catalog.format('clean_before: max_num must be at least 1, not %%s', $3));
  end if;
  foreach v_state in array $2 loop
    loop
      v_limit := least(1000, coalesce($3 - this.v_count, 1000));
      exit when this.v_limit <= 0 or pg_catalog.cardinality(this.v_held) > 10000;
      -- Each branch is planned on the index of its state. A canceled or reset row may carry another's end: ask the state too.
      if this.v_state = 'finished' then
        v_ids := array(
          select t.id from %1$s t
          where t.finished_at < $1 and t.id <> all (this.v_held)
          order by t.finished_at limit this.v_limit for update skip locked);
      elsif this.v_state = 'failed' then
        v_ids := array(
          select t.id from %1$s t
          where t.failed_at < $1 and t.finished_at is null and not t.canceled and t.id <> all (this.v_held)
          order by t.failed_at limit this.v_limit for update skip locked);
      else
        v_ids := array(
          select t.id from %1$s t
          where t.canceled_at < $1 and t.canceled and t.finished_at is null and t.id <> all (this.v_held)
          order by t.canceled_at limit this.v_limit for update skip locked);
      end if;
      exit when pg_catalog.cardinality(this.v_ids) = 0;
      begin
        delete from %1$s t where t.id = any (this.v_ids);
        get diagnostics v_some = row_count;
        v_count := this.v_count + this.v_some;
        if this.v_some < pg_catalog.cardinality(this.v_ids) then
          v_held := this.v_held || array(select t.id from %1$s t where t.id = any (this.v_ids));
        end if;
      exception
        when transaction_rollback or insufficient_resources or operator_intervention or insufficient_privilege then
          raise;
        when others then
          foreach v_one in array this.v_ids loop
            begin
              delete from %1$s t where t.id = this.v_one;
              if found then
                v_count := this.v_count + 1;
              else
                v_held := this.v_held || this.v_one;
              end if;
            exception
              when transaction_rollback or operator_intervention then
                raise;
              when others then
                v_held := this.v_held || this.v_one;
                raise notice 'task %% of %% is kept: %%', this.v_one, %3$s, sqlerrm;
            end;
          end loop;
      end;
    end loop;
  end loop;
  return this.v_count;
end
$verb$
$format$,
    p_table, pg_catalog.quote_ident('clean_before_' || p_name), pg_catalog.quote_literal(p_table))
$source$;
comment on function tasks.source_of_clean_before(text, text) is
  'Source of clean_before: deletes tasks that ended before an instant, those of the given states, at most max_num; returns how many';

create function tasks.source_of_clean(p_table text, p_name text) returns text
language sql immutable
as $source$
  select pg_catalog.format($format$
create or replace function tasks.%2$s(
  finished_after interval default null, states text[] default '{finished}', max_num bigint default null, options jsonb default null
) returns bigint
language plpgsql volatile
as $verb$
#variable_conflict use_column
<<this>>
declare
  v_storage interval;
begin
  select coalesce($1, y.storage_time) into this.v_storage from tasks.types y where y.table_id = %3$s::pg_catalog.regclass;
  if this.v_storage is null then
    perform tasks.refuse('TQ003', pg_catalog.format('clean: finished_after is NULL and %%s has no storage_time', %3$s),
      'Give an interval, or set storage_time by tasks.configure.');
  elsif this.v_storage < interval '0' then
    perform tasks.refuse('TQ003', pg_catalog.format('clean: finished_after must not be negative, not %%s', this.v_storage));
  end if;
  return tasks.%4$s(tasks.clock() - tasks.elapsed(this.v_storage), $2, $3, $4);
end
$verb$
$format$,
    p_table, pg_catalog.quote_ident('clean_' || p_name), pg_catalog.quote_literal(p_table), pg_catalog.quote_ident('clean_before_' || p_name))
$source$;
comment on function tasks.source_of_clean(text, text) is
  'Source of clean: deletes tasks that ended longer ago than finished_after (NULL: the type''s storage_time); returns how many';

commit;
