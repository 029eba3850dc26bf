-- 0019_create_groups: tasks that belong together, and one task when all of them have ended.
--
-- Flow: create_group says what is enqueued at the end; members are tasks of types that use groups, with the group's key in
-- group_key, enqueued in the same transaction or later by an unfinished member. When a member ends, a constraint trigger
-- that fires at COMMIT locks the group, counts the end and, if no unfinished member is left, enqueues the callback. So two
-- members that end at the same moment take turns, and the lock is held only while a transaction commits.
-- The group's row is updated at every end: a transaction in a stricter isolation that would judge by an old snapshot gets
-- 40001 instead of overlooking the last one.
-- Lock order: at COMMIT, the group's row, then the callback's new row.

begin isolation level read committed;
select tasks.start_migration(19, 'create_groups');

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
  callback_id      bigint
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
comment on column tasks.groups.callback_id is 'The callback; NULL while the group lasts, and where the policy left it out';

create table tasks.group_types (table_id regclass primary key);
comment on table tasks.group_types is 'Task types whose tasks may belong to a group';
comment on column tasks.group_types.table_id is 'The task table';

create function tasks.group_is_unfinished(p_key text) returns boolean
language plpgsql volatile
set enable_seqscan to off
as $$
declare
  v_table regclass;
  v_found boolean;
begin
  for v_table in select g.table_id from tasks.group_types g where tasks.quoted(g.table_id) is not null order by g.table_id loop
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

create function tasks.end_group(p_key text) returns void
language plpgsql volatile
as $$
declare
  v_group   tasks.groups;
  v_columns text;
  v_id      bigint;
begin
  select g.* into v_group from tasks.groups g where g.key = p_key and g.ended_at is null for update;
  if not found or tasks.group_is_unfinished(p_key) then
    return;
  end if;
  if v_group.policy = 'always' or v_group.failed + v_group.canceled = 0 then
    select coalesce(pg_catalog.string_agg(pg_catalog.quote_ident(k), ', ' order by k), '') into v_columns
    from pg_catalog.jsonb_object_keys(v_group.callback_columns) k;
    execute pg_catalog.format('insert into %1$s (%2$s comment) select %3$s $2 from pg_catalog.jsonb_populate_record(null::%1$s, $1) r returning id',
      tasks.quoted(v_group.callback_table), case when v_columns = '' then '' else v_columns || ',' end,
      case when v_columns = '' then '' else 'r.' || pg_catalog.replace(v_columns, ', ', ', r.') || ',' end)
    into v_id
    using v_group.callback_columns,
      pg_catalog.format('group %s: %s finished, %s failed, %s canceled', p_key, v_group.finished, v_group.failed, v_group.canceled);
  end if;
  update tasks.groups g set ended_at = tasks.clock(), callback_id = v_id where g.key = p_key;
end
$$;
comment on function tasks.end_group(text) is 'Ends a group if no unfinished member is left, and enqueues its callback';

create function tasks.member_ended() returns trigger
language plpgsql volatile
as $$
declare
  v_key   text := old.group_key;
  v_state text;
begin
  if tg_op = 'UPDATE' then
    v_state := case when new.finished_at is not null then 'finished' when new.canceled then 'canceled' else 'failed' end;
  else
    -- A finish that deletes; else a row that somebody deleted unfinished.
    v_state := case when old.started_at is not null
      and exists (select from tasks.types y where y.table_id = tg_relid::regclass and y.storage_time = interval '0') then 'finished' else 'canceled' end;
  end if;
  update tasks.groups g set
    finished = g.finished + case when v_state = 'finished' then 1 else 0 end,
    failed = g.failed + case when v_state = 'failed' then 1 else 0 end,
    canceled = g.canceled + case when v_state = 'canceled' then 1 else 0 end
  where g.key = v_key and g.ended_at is null;
  return null;
end
$$;
comment on function tasks.member_ended() is 'Trigger at COMMIT: counts a member''s end';

create function tasks.group_counted() returns trigger
language plpgsql volatile
as $$
begin
  perform tasks.end_group(new.key);
  return null;
end
$$;
comment on function tasks.group_counted() is 'Trigger at COMMIT: ends a group whose last member has ended, or that has none';

-- Several members may end in one transaction. Their triggers are queued before this one, so that all of them are counted when
-- it looks.
create constraint trigger pg_tasks_group_created after insert on tasks.groups
  deferrable initially deferred for each row execute function tasks.group_counted();
create constraint trigger pg_tasks_group_counted after update of finished, failed, canceled on tasks.groups
  deferrable initially deferred for each row when (new.ended_at is null) execute function tasks.group_counted();

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
      pg_catalog.left('pg_tasks_group_' || v_type.function_name, 63), v_table),
    pg_catalog.format('create constraint trigger pg_tasks_group_update after update on %s deferrable initially deferred for each row
      when (old.group_key is not null and old.finished_at is null and old.failed_at is null and not old.canceled
        and (new.finished_at is not null or new.failed_at is not null or new.canceled))
      execute function tasks.member_ended()', v_table),
    pg_catalog.format('create constraint trigger pg_tasks_group_delete after delete on %s deferrable initially deferred for each row
      when (old.group_key is not null and old.finished_at is null and old.failed_at is null and not old.canceled)
      execute function tasks.member_ended()', v_table)]);
  insert into tasks.group_types (table_id) values (v_type.table_id);
end
$$;
comment on function tasks.use_groups(text, text) is 'Lets tasks of a type belong to groups: an index on group_key and triggers; idempotent';

create function tasks.create_group(key text, schema_name text, table_name text, columns jsonb default '{}', policy text default 'always') returns void
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_type tasks.types := tasks.find_type($2, $3);
begin
  if $1 is null or $1 = '' then
    perform tasks.refuse('TQ003', 'create_group: key must not be empty');
  elsif v_type.table_id is null then
    perform tasks.refuse('TQ004', pg_catalog.format('create_group: %I.%I is not registered', $2, $3), 'Call tasks.register(schema, table).');
  elsif $5 is null or $5 not in ('always', 'all_finished') then
    perform tasks.refuse('TQ003', pg_catalog.format('create_group: policy must be always or all_finished, not %L', $5));
  end if;
  perform tasks.check_schedule_columns(v_type.table_id, coalesce($4, '{}'));
  begin
    insert into tasks.groups as g (key, callback_table, callback_columns, policy) values ($1, v_type.table_id, coalesce($4, '{}'), $5);
  exception
    when unique_violation then
      perform tasks.refuse('TQ003', pg_catalog.format('create_group: there is a group %L already', $1), 'A key is used once.');
  end;
end
$$;
comment on function tasks.create_group(text, text, text, jsonb, text) is
  'Creates a group and says what is enqueued when its last member has ended; enqueue its members in the same transaction';

commit;
