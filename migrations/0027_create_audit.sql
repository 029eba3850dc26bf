-- 0027_create_audit: what operators did, by whom.
--
-- Flow: the dashboard writes a row in the transaction of each action, so that nothing is done without it. One row per action,
-- however many tasks it was about. Nothing here deletes rows: how long they are kept is the owner's business.
-- Locks: none on task tables.

begin isolation level read committed;
select tasks.start_migration(27, 'create_audit');

create table tasks.audit (
  id         bigint generated always as identity primary key,
  acted_at   timestamptz not null default pg_catalog.clock_timestamp(),
  actor      text not null,
  role_name  text not null default session_user,
  action     text not null,
  table_name text,
  target     text,
  affected   bigint not null default 1,
  details    jsonb
);
comment on table tasks.audit is 'Actions of operators: who did what to how many tasks; written by the dashboard';
comment on column tasks.audit.id is 'Identity';
comment on column tasks.audit.acted_at is 'When';
comment on column tasks.audit.actor is 'Who, by the name with which they signed in';
comment on column tasks.audit.role_name is 'The database role that did it for them';
comment on column tasks.audit.action is 'What: enqueue, retry, cancel, reset, edit, clean, pause, ...';
comment on column tasks.audit.table_name is 'The task table, quoted where needed; NULL: none';
comment on column tasks.audit.target is 'Id of the task, or key of the schedule; NULL: many, or none';
comment on column tasks.audit.affected is 'How many tasks, schedules or settings';
comment on column tasks.audit.details is 'More about it: which columns or settings were changed, which filter chose the tasks; no column values';

commit;
