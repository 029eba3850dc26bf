-- 0024_create_groups: tasks that belong together, and one task when all of them have ended.
--
-- Flow: create_group says what is enqueued at the end; members are tasks of types that use groups, with the group's key in
-- group_key, enqueued in the same transaction or later by an unfinished member. A statement that ends members notes how many
-- of which group; at COMMIT one trigger for all that the transaction noted locks the groups in the order of their keys, counts
-- the ends and, where no unfinished member is left, enqueues the callback. So two members that end at the same moment take
-- turns, and the locks are held only while a transaction commits.
-- The group's row is updated at every end: a transaction in a stricter isolation that would judge by an old snapshot gets
-- 40001 instead of overlooking the last one.
-- Lock order: at COMMIT, the rows of the groups by key, then the callbacks' new rows.

begin isolation level read committed;
select tasks.start_migration(24, 'create_groups');

create table tasks.groups (
  key              text primary key,
  callback_table   regclass not null,
  callback_columns jsonb not null default '{}',
  policy           text not null default 'always' constraint groups_policy check (policy in ('always', 'all_finished')),
  finished         bigint not null default 0,
  failed           bigint not null default 0,
  canceled         bigint not null default 0,
  created_at       timestamptz not null default pg_catalog.clock_timestamp(),
  ended_at         timestamptz,
  callback_id      bigint,
  error            text
);
comment on table tasks.groups is 'Groups of tasks; a group ends once, when no unfinished member is left';
comment on column tasks.groups.key is 'Name of the group; group_key of its members';
comment on column tasks.groups.callback_table is 'Task table to which the callback is enqueued';
comment on column tasks.groups.callback_columns is 'Column values of the callback';
comment on column tasks.groups.policy is 'always: callback whatever became of the members; all_finished: only if none failed or was canceled';
comment on column tasks.groups.finished is 'Members that finished';
comment on column tasks.groups.failed is 'Members that failed for good';
comment on column tasks.groups.canceled is 'Members that were canceled or deleted unfinished';
comment on column tasks.groups.created_at is 'When it was created';
comment on column tasks.groups.ended_at is 'When the last member ended; NULL: some are unfinished';
comment on column tasks.groups.error is 'Why the callback could not be enqueued; tasks.end_group(key) tries again';
comment on column tasks.groups.callback_id is 'The callback; NULL while the group lasts, where the policy left it out, and where its like waited already';

create table tasks.group_types (table_id regclass primary key);
comment on table tasks.group_types is 'Task types whose tasks may belong to a group';
comment on column tasks.group_types.table_id is 'The task table';

-- Written and taken by the same transaction: whatever is visible under its number is its own.
create table tasks.group_ends (
  id         bigint generated always as identity primary key,
  written_by xid8 not null default pg_catalog.pg_current_xact_id(),
  key        text not null,
  finished   bigint not null,
  failed     bigint not null,
  canceled   bigint not null
);
comment on table tasks.group_ends is 'Members that ended in transactions that are still open';
comment on column tasks.group_ends.id is 'Identity';
comment on column tasks.group_ends.written_by is 'The transaction';
comment on column tasks.group_ends.key is 'The group';
comment on column tasks.group_ends.finished is 'Members that finished';
comment on column tasks.group_ends.failed is 'Members that failed for good';
comment on column tasks.group_ends.canceled is 'Members that were canceled or deleted unfinished';
create index group_ends_written_idx on tasks.group_ends (written_by);

-- With its owner's rights: who ends a member of one type needn't read the tables of the group's other types.
create function tasks.group_is_unfinished(p_key text) returns boolean
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan to off
as $$
declare
  v_table regclass;
  v_found boolean;
begin
  -- A table that has lost a column has no members that could be unfinished, and the other types go on.
  for v_table in
    select g.table_id from tasks.group_types g
    where tasks.quoted(g.table_id) is not null and 4 = (
      select pg_catalog.count(*) from pg_catalog.pg_attribute a
      where a.attrelid = g.table_id and a.attname in ('group_key', 'finished_at', 'failed_at', 'canceled') and not a.attisdropped)
    order by g.table_id
  loop
    execute pg_catalog.format('select exists (select from %s t
      where t.group_key = $1 and t.finished_at is null and t.failed_at is null and not t.canceled)', tasks.quoted(v_table))
    into v_found using p_key;
    if v_found then
      return true;
    end if;
  end loop;
  return false;
end
$$;
comment on function tasks.group_is_unfinished(text) is 'Whether a group has an unfinished member';
revoke execute on function tasks.group_is_unfinished(text) from public;

-- Both with their owner's rights: who creates a group, or ends its last member, needn't be able to change groups. A group with
-- unfinished members can't be locked by them.
create function tasks.take_empty_group(p_key text) returns tasks.groups
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group tasks.groups;
begin
  if tasks.group_is_unfinished(p_key) then
    return null;
  end if;
  select g.* into v_group from tasks.groups g where g.key = p_key and g.ended_at is null for update;
  if not found or tasks.group_is_unfinished(p_key) then
    return null;
  end if;
  return v_group;
end
$$;
comment on function tasks.take_empty_group(text) is 'Locks a group that has not ended and has no unfinished member; NULL: there is none';
revoke execute on function tasks.take_empty_group(text) from public;

create function tasks.close_group(p_key text, p_callback_id bigint, p_error text) returns void
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if (tasks.take_empty_group(p_key)).key is null then
    return;
  elsif p_error is not null then
    update tasks.groups g set error = p_error where g.key = p_key;
  else
    update tasks.groups g set ended_at = tasks.clock(), callback_id = p_callback_id, error = null where g.key = p_key;
  end if;
end
$$;
comment on function tasks.close_group(text, bigint, text) is 'Writes the end of a group that has no unfinished member, or why its callback could not be enqueued';
revoke execute on function tasks.close_group(text, bigint, text) from public;

create function tasks.end_group(p_key text) returns void
language plpgsql volatile
as $$
declare
  v_group   tasks.groups;
  v_columns text[];
  v_rule    tasks.unique_rules;
  v_id      bigint;
begin
  v_group := tasks.take_empty_group(p_key);
  if v_group.key is null then
    return;
  end if;
  if v_group.policy = 'always' or v_group.failed + v_group.canceled = 0 then
    v_columns := array(select k from pg_catalog.jsonb_object_keys(v_group.callback_columns) k order by k);
    begin
      -- Where its like waits already, that one comes after the end of all members as well. One that runs doesn't: an error.
      v_rule := tasks.unique_rule(v_group.callback_table);
      execute pg_catalog.format('insert into %s (comment%s) select $2%s%s%s returning id',
        tasks.quoted(v_group.callback_table),
        (select pg_catalog.string_agg(pg_catalog.format(', %I', c), '' order by o) from pg_catalog.unnest(v_columns) with ordinality u (c, o)),
        (select pg_catalog.string_agg(pg_catalog.format(', r.%I', c), '' order by o) from pg_catalog.unnest(v_columns) with ordinality u (c, o)),
        ' from pg_catalog.jsonb_to_record($1) r (' || tasks.record_of(v_group.callback_table, v_columns) || ')',
        case when not v_rule.running and v_rule.columns is not null then pg_catalog.format(' on conflict (%s) where %s do nothing',
          (select pg_catalog.string_agg(pg_catalog.quote_ident(c), ', ') from pg_catalog.unnest(v_rule.columns) c), tasks.unique_predicate(false)) end)
      into v_id
      using v_group.callback_columns,
        pg_catalog.format('group %s: %s finished, %s failed, %s canceled', p_key, v_group.finished, v_group.failed, v_group.canceled);
      perform tasks.check_deferred(v_group.callback_table);
    exception
      when transaction_rollback or insufficient_resources or operator_intervention or system_error or lock_not_available then
        raise; -- what may pass: the member ends another time
      when others then
        -- The member has ended all the same, and the others of its batch.
        raise warning 'the callback of group % could not be enqueued: %', p_key, sqlerrm;
        perform tasks.close_group(p_key, null, sqlerrm);
        return;
    end;
  end if;
  perform tasks.close_group(p_key, v_id, null);
end
$$;
comment on function tasks.end_group(text) is 'Ends a group if no unfinished member is left, and enqueues its callback';

create function tasks.note_ends() returns trigger
language plpgsql volatile
as $$
begin
  if tg_op = 'UPDATE' then
    -- As in write_attempts (0025).
    if not exists (
      select from old_rows o
      join new_rows n on n.id = o.id
      cross join lateral (select
        o.finished_at is not null or o.failed_at is not null or o.canceled as was,
        n.finished_at is not null or n.failed_at is not null or n.canceled as is_now) d
      where o.group_key is not null and (d.was <> d.is_now or not d.was and o.group_key is distinct from n.group_key))
    then
      return null;
    end if;
  end if;
  -- The user's SET CONSTRAINTS ALL IMMEDIATE isn't meant for this: the transaction may enqueue another member yet.
  set constraints tasks.pg_tasks_count_ends deferred;
  if tg_op = 'UPDATE' then
    -- One that leaves its group unfinished counts as nothing, and may have been the last; one that is reset counts no longer.
    insert into tasks.group_ends (key, finished, failed, canceled)
    select s.key, coalesce(pg_catalog.sum(s.sign) filter (where s.state = 'finished'), 0), coalesce(pg_catalog.sum(s.sign) filter (where s.state = 'failed'), 0),
      coalesce(pg_catalog.sum(s.sign) filter (where s.state = 'canceled'), 0)
    from (
      select o.group_key as key, case when d.was then -1 else 1 end as sign,
        case when d.was
          then case when o.finished_at is not null then 'finished' when o.canceled then 'canceled' else 'failed' end
          else case when n.finished_at is not null then 'finished' when n.canceled then 'canceled' when n.failed_at is not null then 'failed' else 'left' end
        end as state
      from old_rows o
      join new_rows n on n.id = o.id
      cross join lateral (select
        o.finished_at is not null or o.failed_at is not null or o.canceled as was,
        n.finished_at is not null or n.failed_at is not null or n.canceled as is_now) d
      where o.group_key is not null and (d.was <> d.is_now or not d.was and o.group_key is distinct from n.group_key)
    ) s
    group by s.key;
  elsif tg_op = 'TRUNCATE' then
    execute pg_catalog.format('insert into tasks.group_ends (key, finished, failed, canceled)
      select t.group_key, 0, 0, pg_catalog.count(*) from %s t
      where t.group_key is not null and t.finished_at is null and t.failed_at is null and not t.canceled
      group by t.group_key', tasks.quoted(tg_relid::regclass));
  else
    -- A finish that deletes; else a row that somebody deleted unfinished.
    insert into tasks.group_ends (key, finished, failed, canceled)
    select o.group_key, pg_catalog.count(*) filter (where s.finished), 0, pg_catalog.count(*) filter (where s.finished is not true)
    from gone o
    cross join lateral (select pg_catalog.current_setting('pg_tasks.finishing', true) = tg_relid::text as finished) s
    where o.group_key is not null and o.finished_at is null and o.failed_at is null and not o.canceled
    group by o.group_key;
  end if;
  return null;
end
$$;
comment on function tasks.note_ends() is 'Trigger: notes which groups'' members a statement ended';

create function tasks.count_ends() returns trigger
language plpgsql volatile
as $$
declare
  v_ends record;
begin
  -- The first one does the work of all.
  if not exists (select from tasks.group_ends e where e.id = new.id) then
    return null;
  end if;
  for v_ends in
    with taken as (delete from tasks.group_ends e where e.written_by = pg_catalog.pg_current_xact_id() returning e.*)
    select t.key, pg_catalog.sum(t.finished) as finished, pg_catalog.sum(t.failed) as failed, pg_catalog.sum(t.canceled) as canceled
    from taken t group by t.key order by t.key
  loop
    update tasks.groups g set
      finished = greatest(0, g.finished + v_ends.finished),
      failed = greatest(0, g.failed + v_ends.failed),
      canceled = greatest(0, g.canceled + v_ends.canceled)
    where g.key = v_ends.key and g.ended_at is null;
    if found then
      perform tasks.end_group(v_ends.key);
    end if;
  end loop;
  return null;
end
$$;
comment on function tasks.count_ends() is 'Trigger at COMMIT: counts what the transaction has ended, and ends the groups that have no unfinished member left';
create constraint trigger pg_tasks_count_ends after insert on tasks.group_ends
  deferrable initially deferred for each row execute function tasks.count_ends();

create function tasks.end_empty_group() returns trigger
language plpgsql volatile
as $$
begin
  perform tasks.end_group(new.key);
  return null;
end
$$;
comment on function tasks.end_empty_group() is 'Trigger at COMMIT: a group that has no members ends at once';
create constraint trigger pg_tasks_group_created after insert on tasks.groups
  deferrable initially deferred for each row execute function tasks.end_empty_group();

-- The callback is enqueued with the rights of whoever ends the last member, a worker perhaps.
create function tasks.check_callback_right() returns trigger
language plpgsql volatile
as $$
begin
  if not pg_catalog.has_any_column_privilege(new.callback_table, 'insert') then
    raise exception using errcode = '42501', message = pg_catalog.format('create_group: %s may not enqueue tasks of %s', pg_catalog.quote_ident(current_user), tasks.quoted(new.callback_table)),
      hint = 'Whoever creates a group needs INSERT on the table of its callback.';
  end if;
  return new;
end
$$;
comment on function tasks.check_callback_right() is 'Trigger: who creates a group, or changes its callback, must be allowed to enqueue it';
create trigger pg_tasks_callback_right before insert or update of callback_table, callback_columns on tasks.groups
  for each row execute function tasks.check_callback_right();

-- With its owner's rights: producers don't read the registry.
create function tasks.registered_table(p_schema text, p_table text) returns regclass
language sql stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select y.table_id from tasks.find_type(p_schema, p_table) y
$$;
comment on function tasks.registered_table(text, text) is 'The table, if it is a registered task type';
revoke execute on function tasks.registered_table(text, text) from public;

create function tasks.use_groups(schema_name text, table_name text) returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type  tasks.types := tasks.find_registered('use_groups', $1, $2);
  v_table text := tasks.quoted(v_type.table_id);
begin
  if exists (select from tasks.group_types g where g.table_id = v_type.table_id) then
    return;
  end if;
  perform tasks.execute_ddl(v_type.table_id, array[
    pg_catalog.format('create index if not exists %I on %s (group_key) where group_key is not null and finished_at is null and failed_at is null and not canceled',
      tasks.index_name('group', v_type, '{group_key}'), v_table),
    pg_catalog.format('create trigger pg_tasks_group_update after update on %s referencing old table as old_rows new table as new_rows
      for each statement execute function tasks.note_ends()', v_table),
    pg_catalog.format('create trigger pg_tasks_group_delete after delete on %s referencing old table as gone
      for each statement execute function tasks.note_ends()', v_table),
    pg_catalog.format('create trigger pg_tasks_group_truncate before truncate on %s
      for each statement execute function tasks.note_ends()', v_table)]);
  insert into tasks.group_types (table_id) values (v_type.table_id);
end
$$;
comment on function tasks.use_groups(text, text) is 'Lets tasks of a type belong to groups: an index on group_key and triggers; idempotent';

create function tasks.create_group(key text, schema_name text, table_name text, columns jsonb default '{}', policy text default 'always') returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_table regclass := tasks.registered_table($2, $3);
begin
  if $1 is null or $1 = '' then
    perform tasks.refuse('TQ003', 'create_group: key must not be empty');
  elsif v_table is null then
    perform tasks.refuse('TQ004', pg_catalog.format('create_group: %I.%I is not registered', $2, $3), 'Call tasks.register(schema, table).');
  elsif $5 is null or $5 not in ('always', 'all_finished') then
    perform tasks.refuse('TQ003', pg_catalog.format('create_group: policy must be always or all_finished, not %L', $5));
  end if;
  perform tasks.check_schedule_columns(v_table, coalesce($4, '{}'), 'create_group');
  if $4 ? 'comment' then
    perform tasks.refuse('TQ003', 'create_group: columns must not name comment', 'It tells how the members ended.');
  end if;
  if $4 ->> 'group_key' = $1 then
    perform tasks.refuse('TQ003', pg_catalog.format('create_group: the callback of the group %L can''t be a member of it', $1), 'The group would never end, and enqueue a callback each time.');
  end if;
  -- As in note_ends: its members are still to come.
  set constraints tasks.pg_tasks_group_created deferred;
  begin
    insert into tasks.groups as g (key, callback_table, callback_columns, policy) values ($1, v_table, coalesce($4, '{}'), $5);
  exception
    when unique_violation then
      perform tasks.refuse('TQ003', pg_catalog.format('create_group: there is a group %L already', $1), 'A key is used once.');
  end;
end
$$;
comment on function tasks.create_group(text, text, text, jsonb, text) is
  'Creates a group and says what is enqueued when its last member has ended; enqueue its members in the same transaction';

create function tasks.forget_groups() returns trigger
language plpgsql volatile
as $$
begin
  delete from tasks.group_types g where g.table_id = old.table_id;
  if not found then
    return null;
  elsif tasks.quoted(old.table_id) is not null then
    -- One that is only unregistered may come back with its members.
    perform tasks.drop_indexes(old.table_id, '{pg_tasks_group_}');
  else
    -- Of a table that was dropped nobody else ends them.
    insert into tasks.group_ends (key, finished, failed, canceled)
    select g.key, 0, 0, 0 from tasks.groups g where g.ended_at is null and g.error is null and not tasks.group_is_unfinished(g.key);
  end if;
  return null;
end
$$;
comment on function tasks.forget_groups() is 'Trigger: tasks of a type that is unregistered are members of no group';
create trigger forget_groups after delete on tasks.types for each row execute function tasks.forget_groups();

commit;
