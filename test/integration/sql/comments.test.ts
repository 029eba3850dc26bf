import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { rowsOf } from './rows-of.js'

const database = await createDatabase()
const session = await database.client()

it('everything in the schema says what it is: the schema, tables, views, columns and functions, those of a type included', async () => {
  await createTaskType(session, 'mail')
  const silent = await rowsOf(
    session,
    `select 'schema tasks' as object where obj_description('tasks'::regnamespace, 'pg_namespace') is null
     union all
     select format('%s %s', case c.relkind when 'v' then 'view' else 'table' end, c.oid::regclass) from pg_class c
     where c.relnamespace = 'tasks'::regnamespace and c.relkind in ('r', 'v', 'm', 'p') and c.oid <> 'tasks.mail'::regclass and not c.relispartition
       and obj_description(c.oid, 'pg_class') is null
     union all
     select format('column %s.%s', c.oid::regclass, a.attname) from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'tasks'::regnamespace and c.relkind in ('r', 'v', 'm', 'p') and c.oid <> 'tasks.mail'::regclass and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and col_description(c.oid, a.attnum) is null
     union all
     select format('function %s', p.oid::regprocedure) from pg_proc p
     where p.pronamespace = 'tasks'::regnamespace and obj_description(p.oid, 'pg_proc') is null
     order by 1`,
  )
  expect(silent.map((row) => row.object)).toEqual([])
})

it('generated functions and views say for which table they are', async () => {
  const comments = await rowsOf(
    session,
    `select obj_description(oid, 'pg_proc') as comment from pg_proc where proname like '%\\_tasks\\_mail'
     union all select obj_description('tasks.stats_of_tasks_mail'::regclass, 'pg_class')`,
  )
  expect(comments.length).toBeGreaterThan(12)
  for (const { comment } of comments) expect(comment).toContain('tasks.mail')
})

it('only the functions that run with their owner`s rights or as a trigger of ours pin a search_path', async () => {
  const pinned = await rowsOf(
    session,
    `select p.proname, p.prosecdef, p.prorettype = 'trigger'::regtype as trigger, p.proconfig @> '{"search_path=pg_catalog, pg_temp"}' as pinned
     from pg_proc p where p.pronamespace = 'tasks'::regnamespace and (p.prosecdef or p.proconfig::text like '%search_path%')`,
  )
  expect(pinned.length).toBeGreaterThan(0)
  for (const row of pinned) expect(row).toMatchObject({ pinned: true })
})
