-- 0009_create_table_check: compares a task table with the template.
--
-- Flow: tasks.check_table lists what is amiss; what can be mended comes with the statement that mends it. Register mends
-- what is safe and refuses the rest in one message; upgrade also adds columns. Nothing here changes anything.
-- Locks: reads the catalogue only.

begin isolation level read committed;
select tasks.start_migration(9, 'create_table_check');

create function tasks.quoted(p_table regclass) returns text
language sql stable
as $$
  select pg_catalog.format('%I.%I', n.nspname, c.relname)
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = p_table
$$;
comment on function tasks.quoted(regclass) is 'Schema and name of a table, quoted; NULL when there is no such table any more';

-- What an index is, without its own name and the table's, so that copies made by LIKE are recognised.
create function tasks.index_shape(p_index oid) returns text
language sql stable
as $$
  select m.amname
    || (select pg_catalog.string_agg(' ' || pg_catalog.pg_get_indexdef(i.indexrelid, k.n, false) || ' ' || i.indoption[k.n - 1], ',' order by k.n)
        from pg_catalog.generate_series(1, i.indnkeyatts) k (n))
    || coalesce(' where ' || pg_catalog.pg_get_expr(i.indpred, i.indrelid), '')
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  join pg_catalog.pg_am m on m.oid = c.relam
  where i.indexrelid = p_index
$$;
comment on function tasks.index_shape(oid) is 'Method, columns, order and predicate of an index as text';

create function tasks.check_relation(p_table regclass) returns void
language plpgsql stable
as $$
declare
  v_class pg_catalog.pg_class;
  v_name  pg_catalog.text := tasks.quoted(p_table);
begin
  select c.* into v_class from pg_catalog.pg_class c where c.oid = p_table;
  if not found then
    perform tasks.refuse('TQ004', pg_catalog.format('there is no table %s', p_table));
  elsif v_class.relkind = 'p' or v_class.relispartition then
    perform tasks.refuse('TQ005', pg_catalog.format('%s is partitioned; a task table can''t be', v_name),
      'Row movement and partition inserts escape the queue''s guarantees. Use a plain table; keep history in a partitioned one of your own.');
  elsif v_class.relkind <> 'r' then
    perform tasks.refuse('TQ005', pg_catalog.format('%s is not a plain table', v_name),
      'A task type is an ordinary table: CREATE TABLE ... (LIKE tasks.template INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES, ...).');
  elsif v_class.relpersistence = 't' then
    perform tasks.refuse('TQ005', pg_catalog.format('%s is temporary: no worker could see it', v_name), 'Create it without TEMPORARY.');
  elsif p_table = 'tasks.template'::pg_catalog.regclass then
    perform tasks.refuse('TQ005', 'tasks.template is the template, not a task table', 'CREATE TABLE ... (LIKE tasks.template ...) and register that.');
  elsif exists (select from pg_catalog.pg_inherits h where h.inhparent = p_table) then
    perform tasks.refuse('TQ005', pg_catalog.format('other tables inherit from %s; a task table can''t have children', v_name),
      'Their rows would be acquired with its own, and ids would not be unique. CREATE TABLE ... (LIKE ...) instead of INHERITS.');
  elsif v_class.relpersistence = 'u' then
    raise warning '% is UNLOGGED: a crash of the server empties it', v_name;
  end if;
end
$$;
comment on function tasks.check_relation(regclass) is 'Refuses what can''t be a task table: views, partitioned, inherited and temporary tables';

create function tasks.check_table(p_table regclass) returns table (problem text, remedy text, safe boolean)
language plpgsql stable
as $$
declare
  v_table pg_catalog.text := tasks.quoted(p_table);
begin
  return query
    with template as (
      select a.attname, a.atttypid, a.attnotnull, a.attidentity, pg_catalog.pg_get_expr(d.adbin, d.adrelid) as standard,
        pg_catalog.format_type(a.atttypid, a.atttypmod) as type_name, a.attnum
      from pg_catalog.pg_attribute a
      left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = 'tasks.template'::pg_catalog.regclass and a.attnum > 0 and not a.attisdropped
    ), own as (
      select a.attname, a.atttypid, a.attnotnull, a.attidentity, a.attgenerated, a.atthasdef,
        pg_catalog.format_type(a.atttypid, a.atttypmod) as type_name
      from pg_catalog.pg_attribute a
      where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped
    )
    select x.problem, x.remedy, x.safe
    from template t
    left join own o on o.attname = t.attname
    cross join lateral (
      -- Adding a column may rewrite the table: only upgrade does that.
      select pg_catalog.format('column %I (%s) is missing', t.attname, t.type_name),
        pg_catalog.format('alter table %s add column %I %s%s%s', v_table, t.attname, t.type_name,
          case when t.attidentity = '' then coalesce(' default ' || t.standard, '') else ' generated by default as identity' end,
          case when t.attnotnull then ' not null' else '' end),
        false, 1
      where o.attname is null
      union all
      select pg_catalog.format('column %I is %s, the template has %s', t.attname, o.type_name, t.type_name), null, false, 2
      where o.atttypid <> t.atttypid
        and not (t.attname = 'id' and o.atttypid = 'integer'::pg_catalog.regtype)
        and not (t.attname = 'trace_id' and o.atttypid = 'pg_catalog.text'::pg_catalog.regtype)
        and not (t.type_name = 'text' and o.atttypid = 'character varying'::pg_catalog.regtype)
      union all
      select pg_catalog.format('column %I is generated', t.attname), null, false, 3
      where o.attgenerated <> ''
      union all
      select pg_catalog.format('column %I has no default', t.attname),
        case when t.attidentity = '' then pg_catalog.format('alter table %s alter column %I set default %s', v_table, t.attname, t.standard)
          else pg_catalog.format('alter table %s alter column %I set not null, alter column %2$I add generated by default as identity', v_table, t.attname) end,
        true, 4
      where o.attname is not null and (t.standard is not null or t.attidentity <> '') and not o.atthasdef and o.attidentity = ''
      union all
      select pg_catalog.format('column %I may be NULL', t.attname),
        pg_catalog.format('alter table %s alter column %I set not null', v_table, t.attname), true, 5
      where t.attnotnull and o.attname is not null and not o.attnotnull
        and not (t.attidentity <> '' and not o.atthasdef and o.attidentity = '')
    ) as x (problem, remedy, safe, step)
    order by x.step, t.attnum;

  if not exists (
    select from pg_catalog.pg_index i
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] and a.attname = 'id'
    where i.indrelid = p_table and i.indisunique and i.indimmediate and i.indnkeyatts = 1 and i.indpred is null and i.indisvalid
  ) then
    return query
      select 'id is not unique'::pg_catalog.text,
        pg_catalog.format(
          case when exists (select from pg_catalog.pg_index i where i.indrelid = p_table and i.indisprimary)
            then 'alter table %s add unique (id)' else 'alter table %s add primary key (id)' end, v_table),
        true;
  end if;

  return query
    select pg_catalog.format('index (%s) is missing', d.definition), pg_catalog.format('create index on %s using %s', v_table, d.definition), true
    from pg_catalog.pg_index i
    cross join lateral (select pg_catalog.regexp_replace(pg_catalog.pg_get_indexdef(i.indexrelid), '^.*? USING ', '')) as d (definition)
    where i.indrelid = 'tasks.template'::pg_catalog.regclass and not i.indisprimary
      and not exists (
        select from pg_catalog.pg_index o
        where o.indrelid = p_table and o.indisvalid and tasks.index_shape(o.indexrelid) = tasks.index_shape(i.indexrelid))
    order by d.definition;

  if not exists (
    select from pg_catalog.pg_constraint k
    where k.conrelid = p_table and k.contype = 'c' and k.conname = 'pg_tasks_priority'
  ) then
    return query select 'priority is not checked'::pg_catalog.text,
      pg_catalog.format('alter table %s add constraint pg_tasks_priority check (priority between 0 and 3)', v_table), true;
  end if;

  -- A claim and a finish write a new row version each; with room in the page for one, both stay there: a tenth less WAL than at
  -- 70, two thirds less with rows of 2 kB, and the table ends no larger. Vacuum must come by the queue's pace, not by a share
  -- of a history of millions. A setting of the user's own stays.
  return query
    select pg_catalog.format('storage parameter %s is not set', s.name), pg_catalog.format('alter table %s set (%s = %s)', v_table, s.name, s.setting), true
    from (values ('fillfactor', '50'), ('autovacuum_vacuum_scale_factor', '0.02'), ('autovacuum_analyze_scale_factor', '0.05'),
      ('autovacuum_vacuum_insert_scale_factor', '0.1')) as s (name, setting)
    where not exists (
      select from pg_catalog.pg_class c, pg_catalog.unnest(c.reloptions) o
      where c.oid = p_table and pg_catalog.starts_with(o, s.name || '='));
end
$$;
comment on function tasks.check_table(regclass) is
  'What keeps a table from being a task table, with the statement that mends it, and whether register may run it';

create function tasks.check_triggers(p_table regclass, p_notify boolean, p_marks boolean) returns table (problem text, remedy text)
language sql stable
as $$
  select w.problem, w.remedy
  from (values
    ('pg_tasks_notify_insert', 'after insert on %s', 'notify_workers', p_notify),
    ('pg_tasks_notify_update', 'after update of planned_to on %s', 'notify_workers', p_notify),
    ('pg_tasks_marks_delete', 'after delete on %s referencing old table as gone', 'forget_marks', p_marks),
    ('pg_tasks_marks_truncate', 'after truncate on %s', 'forget_marks', p_marks)
  ) as g (name, event, function, wanted)
  left join pg_catalog.pg_trigger t on t.tgrelid = p_table and t.tgname = g.name
  cross join lateral (
    select pg_catalog.format('trigger %s is missing', g.name),
      pg_catalog.format('create trigger %I %s for each statement execute function tasks.%I()',
        g.name, pg_catalog.format(g.event, tasks.quoted(p_table)), g.function)
    where g.wanted and t.oid is null
    union all
    select pg_catalog.format('trigger %s is there', g.name), pg_catalog.format('drop trigger %I on %s', g.name, tasks.quoted(p_table))
    where not g.wanted and t.oid is not null
  ) as w (problem, remedy)
  union all
  -- The original's trigger would announce everything twice.
  select 'trigger notify_on_new is there', pg_catalog.format('drop trigger notify_on_new on %s', tasks.quoted(p_table))
  from pg_catalog.pg_trigger t
  where t.tgrelid = p_table and t.tgname = 'notify_on_new' and t.tgfoid = 'tasks.notify_workers()'::pg_catalog.regprocedure
$$;
comment on function tasks.check_triggers(regclass, boolean, boolean) is 'Which triggers a task table lacks or has too many, with the statement that mends it';

create function tasks.check_table_of_type(p_table regclass, p_notify boolean, out refused text, out remedies text[]) returns record
language sql stable
as $$
  select pg_catalog.string_agg(c.problem, '; ') filter (where not c.safe), pg_catalog.array_agg(c.remedy) filter (where c.safe)
  from (
    select t.problem, t.remedy, t.safe from tasks.check_table(p_table) t
    union all
    select g.problem, g.remedy, true from tasks.check_triggers(p_table, p_notify, true) g
  ) c
$$;
comment on function tasks.check_table_of_type(regclass, boolean) is
  'What register can''t mend in a table, in one text, and the statements that mend the rest; NULL and NULL: it fits';

commit;
