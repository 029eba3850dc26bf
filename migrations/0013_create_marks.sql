-- 0013_create_marks: execution marks, by which a step that was done is passed by on the next attempt.
--
-- Flow: begin_step looks whether the step is marked and gives the key for the outside service; the handler does the step;
-- mark_step writes the mark. Both are fenced: the task must be running with the given token.
-- Marks go with their task: triggers that register puts on the task table delete them, whoever deletes the task.
-- Lock order: the task's row (share), then its marks.

begin isolation level read committed;
select tasks.start_migration(13, 'create_marks');

create table tasks.marks (
  table_id  regclass not null,
  task_id   bigint not null,
  step      text not null,
  value     jsonb,
  attempt   integer not null,
  marked_at timestamptz not null default pg_catalog.clock_timestamp(),
  primary key (table_id, task_id, step)
);
comment on table tasks.marks is 'Steps of tasks that are done; a mark is written by the run that did the step';
comment on column tasks.marks.table_id is 'The task table';
comment on column tasks.marks.task_id is 'The task';
comment on column tasks.marks.step is 'Name of the step, unique in its task';
comment on column tasks.marks.value is 'What the step returned';
comment on column tasks.marks.attempt is 'Execution that did it';
comment on column tasks.marks.marked_at is 'When it was marked';

create table tasks.installation (
  single            boolean primary key default true check (single),
  id                uuid not null default pg_catalog.gen_random_uuid(),
  system_identifier bigint not null,
  database_id       oid not null
);
comment on table tasks.installation is 'Identity of this database among its copies; part of every idempotency key';
comment on column tasks.installation.single is 'Keeps the table at one row';
comment on column tasks.installation.id is 'The identity';
comment on column tasks.installation.system_identifier is 'Server for which it was made';
comment on column tasks.installation.database_id is 'Database for which it was made';

-- A copy that was restored elsewhere finds another server or database and becomes an installation of its own, so that
-- staging never uses production's keys. Runs with the owner's rights: it writes a row that nobody else may write.
create function tasks.installation_id() returns uuid
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_system   bigint := (select c.system_identifier from pg_control_system() c);
  v_database oid := (select d.oid from pg_database d where d.datname = current_database());
  v_id       uuid;
begin
  select i.id into v_id from tasks.installation i where i.system_identifier = v_system and i.database_id = v_database;
  if found then
    return v_id;
  end if;
  insert into tasks.installation as i (system_identifier, database_id) values (v_system, v_database)
  on conflict (single) do update set id = gen_random_uuid(), system_identifier = excluded.system_identifier, database_id = excluded.database_id
  where (i.system_identifier, i.database_id) is distinct from (excluded.system_identifier, excluded.database_id);
  select i.id into v_id from tasks.installation i;
  return v_id;
end
$$;
comment on function tasks.installation_id() is 'Identity of this database; a copy restored on another server or under another database gets its own';

create function tasks.check_run(p_verb text, p_table_id oid, p_task_id bigint, p_run_token uuid, out created_at timestamptz, out attempt integer) returns record
language plpgsql volatile
as $$
declare
  v_table text := tasks.quoted(p_table_id::regclass);
begin
  if v_table is null or p_task_id is null or p_run_token is null then
    perform tasks.refuse('TQ003', pg_catalog.format('%s: table, task and token must not be NULL, and the table must be there', p_verb));
  end if;
  -- Share: who takes the task over waits until the mark is written or the transaction is gone.
  execute pg_catalog.format(
    'select t.created_at, t.execution_count from %s t
     where t.id = $1 and t.run_token = $2 and tasks.is_running(t.started_at, t.finished_at, t.failed_at, t.canceled) for share', v_table)
  into created_at, attempt using p_task_id, p_run_token;
  if created_at is null then
    perform tasks.refuse_outcome(v_table, p_verb, p_task_id, p_run_token);
  end if;
end
$$;
comment on function tasks.check_run(text, oid, bigint, uuid) is 'Locks a running task for share, or raises that it is not this run''s';

create function tasks.begin_step(
  p_table_id oid, p_task_id bigint, p_run_token uuid, p_step text, out marked boolean, out value jsonb, out idempotency_key text
) returns record
language plpgsql volatile
as $$
declare
  v_run record;
begin
  if p_step is null or p_step = '' then
    perform tasks.refuse('TQ003', 'begin_step: step must not be empty');
  end if;
  v_run := tasks.check_run('begin_step', p_table_id, p_task_id, p_run_token);
  select m.value into value from tasks.marks m where m.table_id = p_table_id::regclass and m.task_id = p_task_id and m.step = p_step;
  marked := found;
  idempotency_key := pg_catalog.substr(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
    pg_catalog.concat_ws(' ', tasks.installation_id(), p_table_id, p_task_id, pg_catalog.date_part('epoch', v_run.created_at), p_step), 'UTF8')), 'hex'), 1, 32);
end
$$;
comment on function tasks.begin_step(oid, bigint, uuid, text) is
  'Whether a step of a running task is marked, with what value, and the key by which an outside service can recognise its repetition';

create function tasks.mark_step(p_table_id oid, p_task_id bigint, p_run_token uuid, p_step text, p_value jsonb) returns void
language plpgsql volatile
as $$
declare
  v_run record;
begin
  if p_step is null or p_step = '' then
    perform tasks.refuse('TQ003', 'mark_step: step must not be empty');
  end if;
  v_run := tasks.check_run('mark_step', p_table_id, p_task_id, p_run_token);
  -- The first mark stays: a repeated call after a lost answer changes nothing.
  insert into tasks.marks as m (table_id, task_id, step, value, attempt)
  values (p_table_id::regclass, p_task_id, p_step, p_value, v_run.attempt)
  on conflict on constraint marks_pkey do nothing;
end
$$;
comment on function tasks.mark_step(oid, bigint, uuid, text, jsonb) is 'Marks a step of a running task as done; becomes part of the caller''s transaction';

-- Runs with the owner's rights: who may delete a task need not be allowed to touch marks.
create function tasks.forget_marks() returns trigger
language plpgsql volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from tasks.marks m where m.table_id = tg_relid::regclass) then
    return null;
  end if;
  if tg_op = 'TRUNCATE' then
    delete from tasks.marks m where m.table_id = tg_relid::regclass;
  else
    delete from tasks.marks m using gone g where m.table_id = tg_relid::regclass and m.task_id = g.id;
  end if;
  return null;
end
$$;
comment on function tasks.forget_marks() is 'Trigger: deletes the marks of deleted tasks';
revoke execute on function tasks.forget_marks() from public;

create function tasks.apply_reset_options(p_table regclass, p_task_id bigint, p_options jsonb) returns void
language plpgsql volatile
as $$
declare
  v_unknown text;
begin
  select pg_catalog.string_agg(k, ', ') into v_unknown from pg_catalog.jsonb_object_keys(p_options) k where k <> 'forget_marks';
  if v_unknown is not null then
    perform tasks.refuse('TQ003', pg_catalog.format('reset: there is no option %s', v_unknown), 'Options: forget_marks (true or false).');
  end if;
  if (p_options -> 'forget_marks')::boolean then
    delete from tasks.marks m where m.table_id = p_table and m.task_id = p_task_id;
  end if;
end
$$;
comment on function tasks.apply_reset_options(regclass, bigint, jsonb) is 'Options of reset: forget_marks deletes the task''s marks, which otherwise stay';

commit;
