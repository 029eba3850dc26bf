import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { type Run, startRun } from '../sql/task-in-state.js'
import { acquireAgain, begin, mark, marksOf } from './steps-of.js'

const database = await createDatabase()
const { pool } = database

async function markedRun(table: string): Promise<Run> {
  const run = await startRun(pool, table)
  await mark(pool, table, run, 'a')
  await mark(pool, table, run, 'b')
  return run
}

/** A second task whose marks must stay whatever happens to the first. */
async function twoMarkedRuns(table: string, settings = ''): Promise<[Run, Run]> {
  await createTaskType(pool, table, { settings })
  return [await markedRun(table), await markedRun(table)]
}

it('stays through retry, rescue and reset', async () => {
  await createTaskType(pool, 'stays')
  let run = await markedRun('stays')
  for (const end of [
    'select tasks.retry_tasks_stays($1, planned_to => now())',
    `update tasks.stays set run_until = '-infinity' where id = $1`,
    'select tasks.reset_tasks_stays($1)',
    `select tasks.reset_tasks_stays($1, '{}')`,
    `select tasks.reset_tasks_stays($1, '{"forget_marks": false}')`,
    `select tasks.reset_tasks_stays($1, '{"forget_marks": null}')`,
  ]) {
    await pool.query(end, [run.id])
    run = await acquireAgain(pool, 'stays', run.id)
    expect(await begin(pool, 'stays', run, 'a'), end).toMatchObject({ marked: true })
  }
})

it('goes with a reset that forgets marks, those of the task alone', async () => {
  const [run, other] = await twoMarkedRuns('forgotten')
  await pool.query(`select tasks.reset_tasks_forgotten($1, '{"forget_marks": true}')`, [run.id])
  expect(await marksOf(pool, 'forgotten', run.id)).toEqual([])
  expect(await marksOf(pool, 'forgotten', other.id)).toEqual(['a', 'b'])
})

it.each([
  ['[]', 'reset: options must be a JSON object'],
  ['"forget_marks"', 'reset: options must be a JSON object'],
  ['{"forget": true, "forget_marks": true}', 'reset: there is no option forget'],
  ['{"forget_marks": "yes"}', 'reset: forget_marks must be true or false, not "yes"'],
])('is not touched by a reset with the options %s, which is refused', async (options, message) => {
  const table = `refused_${options.length}`
  const [run] = await twoMarkedRuns(table)
  const refusal = await refusalOf(pool.query(`select tasks.reset_tasks_${table}($1, $2)`, [run.id, options]))
  expect(refusal).toMatchObject({ code: 'TQ003', message })
  expect(await marksOf(pool, table, run.id)).toEqual(['a', 'b'])
})

it.each([
  ['cleaned', `select tasks.finish_tasks_cleaned($1)`, `select tasks.clean_tasks_cleaned('0')`],
  ['deleted', '', 'delete from tasks.deleted where id = $1'],
])('goes with a task that is %s', async (table, end, statement) => {
  const [run, other] = await twoMarkedRuns(table)
  if (end !== '') await pool.query(end, [run.id])
  await pool.query(statement, statement.includes('$1') ? [run.id] : [])
  expect(await marksOf(pool, table, run.id)).toEqual([])
  expect(await marksOf(pool, table, other.id)).toEqual(['a', 'b'])
})

it('goes at finish where finished tasks are deleted', async () => {
  const [run, other] = await twoMarkedRuns('ended', `storage_time => '0'`)
  await pool.query('select tasks.finish_tasks_ended($1, run_token => $2)', [run.id, run.token])
  expect(await marksOf(pool, 'ended', run.id)).toEqual([])
  await pool.query('select * from tasks.finish_many_tasks_ended(array[$1::bigint], array[$2::uuid])', [
    other.id,
    other.token,
  ])
  expect(await marksOf(pool, 'ended', other.id)).toEqual([])
})

it('goes with the rows that a foreign key of the user deletes', async () => {
  await pool.query('create table public.orders (id bigint primary key)')
  await pool.query('insert into public.orders values (1), (2)')
  await createTaskType(pool, 'cascade', { columns: 'order_id bigint references public.orders on delete cascade' })
  const [run, other] = [await markedRun('cascade'), await markedRun('cascade')]
  await pool.query('update tasks.cascade set order_id = case id when $1 then 1 else 2 end', [run.id])
  await pool.query('delete from public.orders where id = 1')
  expect(await marksOf(pool, 'cascade', run.id)).toEqual([])
  expect(await marksOf(pool, 'cascade', other.id)).toEqual(['a', 'b'])
})

it('goes with TRUNCATE', async () => {
  const [run] = await twoMarkedRuns('truncated')
  const elsewhere = await startRun(pool, 'stays')
  await mark(pool, 'stays', elsewhere, 'elsewhere')
  await pool.query('truncate tasks.truncated')
  expect(await marksOf(pool, 'truncated', run.id)).toEqual([])
  expect(await marksOf(pool, 'stays', elsewhere.id)).toEqual(['elsewhere'])
})

it('goes by maintenance after DROP TABLE', async () => {
  const [run] = await twoMarkedRuns('dropped')
  const oid = await scalarOf<number>(pool, `select 'tasks.dropped'::regclass::oid`)
  await pool.query('drop table tasks.dropped cascade')
  const count = 'select count(*)::int from tasks.marks where table_id = $1::oid and task_id = $2'
  expect(await scalarOf(pool, count, [oid, run.id])).toBe(2)
  const { rows } = await pool.query('select what, deleted from tasks.maintain()')
  expect(rows).toContainEqual({ what: 'tasks.marks', deleted: '4' })
  expect(await scalarOf(pool, count, [oid, run.id])).toBe(0)
})

it('comes back with a delete that is rolled back', async () => {
  const [run] = await twoMarkedRuns('undone')
  const session = await database.client()
  await session.query('begin')
  await session.query('delete from tasks.undone')
  await session.query('rollback')
  expect(await marksOf(pool, 'undone', run.id)).toEqual(['a', 'b'])
})

it('is no mark of a task that got the id while nobody watched', async () => {
  await createTaskType(pool, 'unwatched')
  const run = await markedRun('unwatched')
  await pool.query(`select tasks.unregister('tasks', 'unwatched')`)
  await pool.query('truncate tasks.unwatched restart identity')
  await pool.query(`select tasks.register('tasks', 'unwatched')`)
  const next = await startRun(pool, 'unwatched')
  expect(next.id).toBe(run.id)

  expect(await begin(pool, 'unwatched', next, 'a')).toMatchObject({ marked: false })
  await mark(pool, 'unwatched', next, 'a', 'anew')
  expect(await begin(pool, 'unwatched', next, 'a')).toMatchObject({ marked: true, value: 'anew' })
})

it('survives a registration that comes and goes while its task is there', async () => {
  await createTaskType(pool, 'comes')
  const run = await markedRun('comes')
  await pool.query(`select tasks.unregister('tasks', 'comes')`)
  await pool.query(`select tasks.register('tasks', 'comes')`)
  expect(await begin(pool, 'comes', run, 'a')).toMatchObject({ marked: true })
  await pool.query('delete from tasks.comes')
  expect(await marksOf(pool, 'comes', run.id)).toEqual([])
})

it('follows a rename of its table', async () => {
  await createTaskType(pool, 'before')
  const run = await markedRun('before')
  await pool.query('alter table tasks.before rename to after')
  expect(await marksOf(pool, 'after', run.id)).toEqual(['a', 'b'])
  await pool.query('delete from tasks.after')
  expect(await marksOf(pool, 'after', run.id)).toEqual([])
})

it('goes with tasks whose table has integer ids and a name that must be quoted', async () => {
  await pool.query('create schema "Odd Schema"')
  const table = '"Odd Schema"."My ""Mail"" table"'
  await pool.query(`create table ${table} (like tasks.template including defaults including indexes)`)
  await pool.query(`alter table ${table} alter id type integer, alter id add generated by default as identity`)
  await pool.query(`select tasks.register('Odd Schema', 'My "Mail" table', function_name => 'odd')`)
  await pool.query(`insert into ${table} default values`)
  const [run] = await rowsOf<Run>(pool, 'select id::text, run_token as token from tasks.acquire_odd(1)')
  const call = (verb: string) =>
    pool.query(`select tasks.${verb}($1::regclass, $2, $3, 'send')`, [table, run?.id, run?.token])
  await call('begin_step')
  await call('mark_step')
  const count = `select count(*)::int from tasks.marks where table_id = $1::regclass`
  expect(await scalarOf(pool, count, [table])).toBe(1)
  await pool.query(`delete from ${table}`)
  expect(await scalarOf(pool, count, [table])).toBe(0)
})
