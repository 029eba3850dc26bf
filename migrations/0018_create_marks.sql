-- 0018_create_marks: execution marks, by which a step that was done is passed by on the next attempt.
--
-- Flow: begin_step looks whether the step is marked and gives the key for the outside service; the handler does the step;
-- mark_step writes the mark. Both are fenced: the task must be running with the given token.
-- Marks go with their task: triggers that register puts on the task table delete them, whoever deletes the task.
-- Lock order: the task's row (share), then its marks.

begin isolation level read committed;
select tasks.start_migration(18, 'create_marks');

create table tasks.marks (
  table_id   regclass not null,
  task_id    bigint not null,
  step       text not null,
  created_at timestamptz not null,
  value      jsonb,
  attempt    integer not null,
  marked_at  timestamptz not null default pg_catalog.clock_timestamp(),
  primary key (table_id, task_id, step)
);
comment on table tasks.marks is 'Steps of tasks that are done; a mark is written by the run that did the step';
comment on column tasks.marks.table_id is 'The task table';
comment on column tasks.marks.task_id is 'The task';
comment on column tasks.marks.step is 'Name of the step, unique in its task';
comment on column tasks.marks.created_at is 'created_at of the task: where ids begin anew, an old mark is not the new task''s';
comment on column tasks.marks.value is 'What the step returned; NULL: nothing';
comment on column tasks.marks.attempt is 'Execution that did it';
comment on column tasks.marks.marked_at is 'When it was marked';

create table tasks.installation (
  single boolean primary key default true check (single),
  id     uuid not null default pg_catalog.gen_random_uuid()
);
comment on table tasks.installation is 'Identity of this installation; part of every idempotency key, with those of the server and the database';
comment on column tasks.installation.single is 'Keeps the table at one row';
comment on column tasks.installation.id is 'The identity; give a copy of the data directory that runs beside the original another one';
insert into tasks.installation default values;

-- Nothing is stored, so a transaction that is rolled back can't take the key along. A copy that was restored elsewhere has
-- another server or database, and its tables other oids: staging never uses production's keys.
create function tasks.idempotency_key(p_table_id oid, p_task_id bigint, p_created_at timestamptz, p_step text) returns text
language plpgsql stable
as $$
declare
  v_system bigint;
begin
  -- Where a provider keeps the function to itself, the database and the table must do.
  if pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'execute') then
    v_system := (select c.system_identifier from pg_catalog.pg_control_system() c);
  end if;
  -- extract is numeric: its text depends on no setting of the session.
  return (
    select pg_catalog.substr(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat_ws(' ',
      i.id, v_system, d.oid, p_table_id, p_task_id, extract(epoch from p_created_at), p_step), 'UTF8')), 'hex'), 1, 32)
    from pg_catalog.pg_database d left join tasks.installation i on true
    where d.datname = pg_catalog.current_database());
end
$$;
comment on function tasks.idempotency_key(oid, bigint, timestamptz, text) is
  'Key by which an outside service can recognise the repetition of a step: the same at every attempt, different in every other task, step and database';

create function tasks.check_run(
  p_verb text, p_table_id oid, p_task_id bigint, p_run_token uuid, p_step text, p_lock text, out created_at timestamptz, out attempt integer
) returns record
language plpgsql volatile
as $$
declare
  v_table    text := tasks.quoted(p_table_id::regclass);
  v_finished boolean;
begin
  if p_step is null or p_step = '' or pg_catalog.octet_length(p_step) > 1000 then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: step must be a name of at most 1000 bytes', p_verb));
  elsif v_table is null or p_task_id is null or p_run_token is null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: table, task and token must not be NULL, and the table must be there', p_verb));
  end if;
  begin
    execute pg_catalog.format(
      'select t.created_at, t.execution_count from %s t
       where t.id = $1 and t.run_token = $2 and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled) %s', v_table, p_lock)
    into created_at, attempt using p_task_id, p_run_token;
  exception
    when lock_not_available then
      perform tasks.refuse('TQ013', pg_catalog.format('%s: another transaction holds task %s of %s', p_verb, p_task_id, v_table),
        'If it is the handler''s own, do the step in that transaction, once(connection, step, work), or before the task is finished there.');
  end;
  if attempt is null then
    execute pg_catalog.format('select t.finished_at is not null and t.run_token = $2 from %s t where t.id = $1', v_table)
    into v_finished using p_task_id, p_run_token;
    if v_finished then
      perform tasks.refuse('TQ001', pg_catalog.format('%s: task %s of %s is finished by this run', p_verb, p_task_id, v_table),
        'Steps come before finish.');
    end if;
    perform tasks.refuse_outcome(v_table, p_verb, p_task_id, p_run_token);
  end if;
end
$$;
comment on function tasks.check_run(text, oid, bigint, uuid, text, text) is 'Reads a running task, under the given lock, or raises that it is not this run''s';

create function tasks.begin_step(
  p_table_id oid, p_task_id bigint, p_run_token uuid, p_step text, p_probe boolean default false,
  out marked boolean, out value jsonb, out idempotency_key text
) returns record
language plpgsql volatile
as $$
declare
  v_run record;
begin
  -- Without the probe no lock is taken: a step may take long, and cancel would wait for it. The mark is fenced anyway.
  v_run := tasks.check_run('begin_step', p_table_id, p_task_id, p_run_token, p_step, case when p_probe then 'for share nowait' else '' end);
  select m.value into value from tasks.marks m
  where m.table_id = p_table_id::regclass and m.task_id = p_task_id and m.step = p_step and m.created_at = v_run.created_at;
  marked := found;
  idempotency_key := tasks.idempotency_key(p_table_id, p_task_id, v_run.created_at, p_step);
end
$$;
comment on function tasks.begin_step(oid, bigint, uuid, text, boolean) is
  'Whether a step of a running task is marked, with what value, and its idempotency key; p_probe also raises when another transaction holds the task, so that the mark couldn''t be written';

create function tasks.mark_step(
  p_table_id oid, p_task_id bigint, p_run_token uuid, p_step text, p_value jsonb default null, p_wait boolean default true
) returns void
language plpgsql volatile
as $$
declare
  v_run          record;
  v_lock_timeout text := pg_catalog.current_setting('lock_timeout');
begin
  if not p_wait then
    -- For the mark: the handler's own transaction may have written the same one and not committed yet.
    perform pg_catalog.set_config('lock_timeout', '1000', true);
  end if;
  -- Share: who takes the task over waits until the mark is committed or gone.
  v_run := tasks.check_run('mark_step', p_table_id, p_task_id, p_run_token, p_step, case when p_wait then 'for share' else 'for share nowait' end);
  begin
    -- The first mark stays: a repeated call after a lost answer changes nothing.
    insert into tasks.marks as m (table_id, task_id, step, created_at, value, attempt)
    values (p_table_id::regclass, p_task_id, p_step, v_run.created_at, p_value, v_run.attempt)
    on conflict on constraint marks_pkey do update set
      created_at = excluded.created_at, value = excluded.value, attempt = excluded.attempt, marked_at = excluded.marked_at
    where m.created_at <> excluded.created_at;
  exception
    when lock_not_available then
      perform tasks.refuse('TQ013', pg_catalog.format('mark_step: another transaction has marked the step %s of task %s and is not committed', p_step, p_task_id),
        'Do a step in one transaction, or each time on its own.');
  end;
  if not p_wait then
    perform pg_catalog.set_config('lock_timeout', v_lock_timeout, true);
  end if;
end
$$;
comment on function tasks.mark_step(oid, bigint, uuid, text, jsonb, boolean) is
  'Marks a step of a running task as done; becomes part of the caller''s transaction. Unless p_wait, it raises when another transaction holds the task';

-- Runs with the owner's rights: who may delete a task need not be allowed to touch marks. The ids as an array and no
-- sequential scan: a plan made while there were few marks must do for many.
create function tasks.forget_marks() returns trigger
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan to off
as $$
begin
  if not exists (select from tasks.marks m where m.table_id = tg_relid::regclass) then
    return null;
  end if;
  if tg_op = 'TRUNCATE' then
    delete from tasks.marks m where m.table_id = tg_relid::regclass;
  else
    delete from tasks.marks m where m.table_id = tg_relid::regclass and m.task_id = any (array(select g.id::bigint from gone g));
  end if;
  return null;
end
$$;
comment on function tasks.forget_marks() is 'Trigger: deletes the marks of deleted tasks';
revoke execute on function tasks.forget_marks() from public;

-- Marks whose task is gone although no trigger saw it go: deleted while the type was unregistered, by a replica's session, or
-- in a snapshot older than the mark. They are nobody's and only take room, so a part at random is looked at each time.
create function tasks.forget_stray_marks(p_table regclass, p_max_num bigint) returns bigint
language plpgsql volatile
set enable_seqscan to off
as $$
declare
  v_first bigint := (select m.task_id from tasks.marks m where m.table_id = p_table order by m.task_id limit 1);
  v_last  bigint := (select m.task_id from tasks.marks m where m.table_id = p_table order by m.task_id desc limit 1);
  v_count bigint;
begin
  -- Who doesn't see all tasks can't tell.
  if v_first is null or pg_catalog.row_security_active(p_table) then
    return 0;
  end if;
  -- From some way before the first on, so that the first is looked at as often as any other.
  execute pg_catalog.format(
    'with looked as materialized (
       select m.task_id, m.step, m.created_at from tasks.marks m
       where m.table_id = $1 and m.task_id >= $2 order by m.task_id, m.step limit $3
     ), stray as materialized (
       select m.task_id, m.step from tasks.marks m
       where m.table_id = $1 and (m.task_id, m.step) in (
         select l.task_id, l.step from looked l where not exists (select from %s t where t.id = l.task_id and t.created_at = l.created_at))
       for update skip locked
     )
     delete from tasks.marks m using stray s where m.table_id = $1 and m.task_id = s.task_id and m.step = s.step', tasks.quoted(p_table))
  using p_table, case when v_last - v_first < p_max_num then v_first else v_last - pg_catalog.floor(pg_catalog.random() * (v_last - v_first + p_max_num)::double precision)::bigint end,
    p_max_num;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tasks.forget_stray_marks(regclass, bigint) is 'Looks at some marks of a table and deletes those whose task is gone; returns how many';

create function tasks.apply_reset_options(p_table regclass, p_task_id bigint, p_options jsonb) returns void
language plpgsql volatile
as $$
declare
  v_unknown text;
begin
  if pg_catalog.jsonb_typeof(p_options) <> 'object' then
    perform tasks.refuse('TQ003', 'reset: options must be a JSON object', 'Options: forget_marks (true or false).');
  end if;
  select pg_catalog.string_agg(k, ', ') into v_unknown from pg_catalog.jsonb_object_keys(p_options) k where k <> 'forget_marks';
  if v_unknown is not null then
    perform tasks.refuse('TQ003', pg_catalog.format('reset: there is no option %s', v_unknown), 'Options: forget_marks (true or false).');
  elsif pg_catalog.jsonb_typeof(p_options -> 'forget_marks') not in ('boolean', 'null') then
    perform tasks.refuse('TQ003', pg_catalog.format('reset: forget_marks must be true or false, not %s', p_options -> 'forget_marks'));
  end if;
  if p_options -> 'forget_marks' = 'true' then
    delete from tasks.marks m where m.table_id = p_table and m.task_id = p_task_id;
  end if;
end
$$;
comment on function tasks.apply_reset_options(regclass, bigint, jsonb) is 'Options of reset: forget_marks deletes the task''s marks, which otherwise stay';

commit;
