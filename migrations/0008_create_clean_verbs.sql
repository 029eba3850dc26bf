-- 0008_create_clean_verbs: sources of clean and clean_before.
--
-- Flow: as in 0003. Ended tasks are deleted oldest first, from the index of their state, in batches of 1000.
-- Rows that a user's foreign key holds are left out by the query, those that a trigger holds are passed by; the rest goes.
-- Lock order: task rows in the order of their end, skip locked.

begin isolation level read committed;
select tasks.start_migration(8, 'create_clean_verbs');

-- Deleting a held row to see whether it can be deleted costs a subtransaction and a dead lock on it, at each clean anew.
-- Not every foreign key is seen here: a table that the caller may not read, one with row level security, one that refers to
-- itself (its rows may go together). Those are found by trying.
create function tasks.unreferenced(p_table regclass, out condition text, out referring text) returns record
language sql stable
as $$
  select pg_catalog.string_agg(pg_catalog.format('not exists (select from %I.%I r where %s)', n.nspname, c.relname, j.condition), ' and '),
    pg_catalog.string_agg(distinct pg_catalog.format('%I.%I', n.nspname, c.relname), ', ')
  from pg_catalog.pg_constraint k
  join pg_catalog.pg_class c on c.oid = k.conrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  cross join lateral (
    select pg_catalog.string_agg(pg_catalog.format('r.%I = t.%I', r.attname, t.attname), ' and ') as condition
    from rows from (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey)) as u (referring, referred)
    join pg_catalog.pg_attribute r on r.attrelid = k.conrelid and r.attnum = u.referring
    join pg_catalog.pg_attribute t on t.attrelid = k.confrelid and t.attnum = u.referred
  ) j
  where k.contype = 'f' and k.confrelid = p_table and k.conrelid <> p_table and k.confdeltype in ('a', 'r') and k.conparentid = 0
    and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(c.oid, 'select')
    and not pg_catalog.row_security_active(c.oid)
$$;
comment on function tasks.unreferenced(regclass) is
  'Condition on a task (alias t) that no row of a foreign key without action refers to it, and the tables of those keys; NULL: there are none';

create function tasks.source_of_clean_before(p_table text, p_name text) returns text
language sql immutable
as $source$
  select tasks.verb_source('clean_before', p_table, p_name, $signature$(
  finished_before pg_catalog.timestamptz, states pg_catalog.text[] default '{finished}', max_num bigint default null,
  options pg_catalog.jsonb default null
) returns bigint$signature$, $body$
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
  v_free  pg_catalog.text;
  v_by    pg_catalog.text;
  v_where pg_catalog.text;
  v_order pg_catalog.text;
  v_seen  bigint[];
  v_pass  bigint[];
  v_floor pg_catalog.timestamptz;
  v_last  pg_catalog.timestamptz;
  v_held  bigint;
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
  select u.condition, u.referring into this.v_free, this.v_by from tasks.unreferenced(%3$s::pg_catalog.regclass) u;
  foreach v_state in array $2 loop
    v_floor := '-infinity';
    v_pass := '{}';
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
      if this.v_free is not null then
        v_order := case this.v_state when 'finished' then 't.finished_at' when 'failed' then 't.failed_at' else 't.canceled_at' end;
        v_where := this.v_order || ' < $1' || case this.v_state
          when 'finished' then '' when 'failed' then ' and t.finished_at is null and not t.canceled' else ' and t.canceled and t.finished_at is null' end;
        -- A thousand at a time, and only those are asked whether anything refers to them: joined as a whole, with a table whose
        -- size nobody knows yet, all ended tasks would be sorted for each batch. A call passes each held row once. (NOT IN is
        -- looked up in a hash table; 14 would search an array.)
        execute pg_catalog.format(
          'select pg_catalog.array_agg(s.id), pg_catalog.max(s.ended) from (
             select t.id, %%2$s as ended from %%1$s t
             where %%3$s and %%2$s >= $2 and t.id not in (select u.id from pg_catalog.unnest($3) u (id)) order by %%2$s limit 1000) s',
          %3$s, this.v_order, this.v_where)
        into this.v_seen, this.v_last using $1, this.v_floor, this.v_pass;
        exit when this.v_seen is null;
        v_pass := case when this.v_last = this.v_floor then this.v_pass || this.v_seen else this.v_seen end;
        v_floor := this.v_last;
        execute pg_catalog.format(
          'select array(select t.id from %%s t where t.id = any ($2) and %%s and %%s order by %%s limit $3 for update of t skip locked)',
          %3$s, this.v_where, this.v_free, this.v_order)
        into this.v_ids using $1, this.v_seen, this.v_limit;
      elsif this.v_state = 'finished' then
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
      exit when pg_catalog.cardinality(this.v_ids) = 0 and this.v_free is null;
      v_from := 1;
      v_to := pg_catalog.cardinality(this.v_ids);
      while this.v_from <= pg_catalog.cardinality(this.v_ids) loop
        v_batch := this.v_ids[this.v_from:this.v_to];
        begin
          with gone as (delete from %1$s t where t.id = any (this.v_batch) returning t.id)
          select coalesce(pg_catalog.array_agg(g.id), '{}') into this.v_gone from gone g;
          perform tasks.check_deferred(%3$s::pg_catalog.regclass);
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
    -- Only once nothing else is left: then what is looked through is what is kept.
    if this.v_free is not null and this.v_limit > 0 then
      execute pg_catalog.format('select pg_catalog.count(*) from (select from %%s t where %%s and not (%%s) limit 10000) s',
        %3$s, this.v_where, this.v_free)
      into this.v_held using $1;
      if this.v_held > 0 then
        raise notice '%% %% tasks of %% are kept: rows of %% refer to them', this.v_held, this.v_state, %3$s, this.v_by;
      end if;
    end if;
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
  select tasks.verb_source('clean', p_table, p_name, $signature$(
  finished_after interval default null, states pg_catalog.text[] default '{finished}', max_num bigint default null,
  options pg_catalog.jsonb default null
) returns bigint$signature$, $body$
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
