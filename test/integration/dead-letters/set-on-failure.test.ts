import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { startRun } from '../sql/task-in-state.js'
import { taskOf } from '../worker/start-worker.js'

const database = await createDatabase()
const { pool } = database

async function setOnFailure(table: string | null, target: string | null): Promise<unknown> {
  return pool.query('select tasks.set_on_failure($1, $2, $3)', ['tasks', table, target])
}

function onFailureOf(table: string): Promise<string | null> {
  return scalarOf(pool, 'select on_failure::text from tasks.types where table_id = $1::regclass', [`tasks.${table}`])
}

async function hasTrigger(table: string): Promise<boolean> {
  const rows = await rowsOf(
    pool,
    `select from pg_trigger where tgrelid = $1::regclass and tgname = 'pg_tasks_on_failure'`,
    [`tasks.${table}`],
  )
  return rows.length === 1
}

await pool.query('create domain counted as integer not null')
await createTaskType(pool, 'sent', { columns: 'payload text, amount int, "At" timestamptz not null default now()' })
await createTaskType(pool, 'letter', { columns: 'payload text' })

let targets = 0

describe('a target', () => {
  it.each<[string, string | null, string | null, string, string]>([
    [
      'a type that is not registered',
      'nothing',
      'tasks.letter',
      'TQ004',
      'set_on_failure: tasks.nothing is not registered',
    ],
    ['no type', null, 'tasks.letter', 'TQ004', 'set_on_failure: tasks.NULL is not registered'],
    [
      'a target that is not registered',
      'sent',
      'tasks.marks',
      'TQ004',
      'set_on_failure: the target tasks.marks is not registered',
    ],
    ['the type itself', 'sent', 'tasks.sent', 'TQ003', 'set_on_failure: failures of tasks.sent would come back to it'],
  ])('is refused: %s', async (_, table, target, code, message) => {
    const refusal = await refusalOf(setOnFailure(table, target))
    expect(refusal).toMatchObject({ code, message, hint: expect.any(String) })
  })

  it('is refused where failures would come back by way of others', async () => {
    for (const table of ['a', 'b', 'c']) await createTaskType(pool, `ring_${table}`)
    await setOnFailure('ring_a', 'tasks.ring_b')
    await setOnFailure('ring_b', 'tasks.ring_c')
    const refusal = await refusalOf(setOnFailure('ring_c', 'tasks.ring_a'))
    expect(refusal).toMatchObject({ code: 'TQ003', hint: 'By way of tasks.ring_a, tasks.ring_b.' })
  })

  it.each([
    ['a column that the type does not have', 'needed text not null', 'needed'],
    ['a column that may be NULL in the type', 'payload text not null', 'payload'],
    ['several columns, quoted as they must be', 'payload text not null, "Other" int not null', 'payload, "Other"'],
    ['the error, which may be missing', 'failed_error text not null', 'failed_error'],
    ['a column of a domain that refuses NULL', 'needed counted', 'needed'],
  ])('is refused when it needs a value that may not be there: %s', async (_, columns, missing) => {
    targets += 1
    const target = `target_${targets}`
    await createTaskType(pool, target, { columns })
    const refusal = await refusalOf(setOnFailure('sent', `tasks.${target}`))
    expect(refusal).toMatchObject({
      code: 'TQ005',
      message: `set_on_failure: ${missing} must not be NULL in tasks.${target}, and a failed task of tasks.sent may have no value for it`,
      hint: expect.stringContaining('Allow NULL'),
    })
    expect(await onFailureOf('sent')).toBe(null)
  })

  it.each([
    ['has a default', `payload text not null default 'x'`],
    ['is NOT NULL in both', '"At" timestamptz not null'],
    ['is an identity', 'number int generated always as identity'],
    ['is of a domain that refuses NULL and has a default', 'number counted default 7'],
    ['is generated', 'number int not null generated always as (1) stored'],
    ['is filled in', 'failed_table regclass not null, failed_id bigint not null, failed_reason text not null'],
    ['has another type that goes', 'amount numeric(6, 2), payload varchar(3)'],
  ])('is taken when a column %s', async (_, columns) => {
    targets += 1
    const target = `target_${targets}`
    await createTaskType(pool, target, { columns })
    await setOnFailure('sent', `tasks.${target}`)
    expect(await onFailureOf('sent')).toBe(`tasks.${target}`)
    await setOnFailure('sent', null)
  })

  it('is refused where a column of the same name has a type that does not go', async () => {
    await createTaskType(pool, 'mistyped', { columns: 'amount date' })
    const refusal = await refusalOf(setOnFailure('sent', 'tasks.mistyped'))
    expect(refusal).toMatchObject({
      code: 'TQ005',
      message: `set_on_failure: a task of tasks.sent can't be passed on to tasks.mistyped: cannot cast type integer to date`,
      hint: 'Columns of the same name need types that go together, or another name.',
    })
  })
})

it('is set, set again, changed and taken away, with its trigger', async () => {
  await createTaskType(pool, 'changing')
  await createTaskType(pool, 'letter_2')
  expect(await hasTrigger('changing')).toBe(false)
  await setOnFailure('changing', 'tasks.letter')
  await setOnFailure('changing', 'tasks.letter')
  expect([await onFailureOf('changing'), await hasTrigger('changing')]).toEqual(['tasks.letter', true])
  await setOnFailure('changing', 'tasks.letter_2')
  expect([await onFailureOf('changing'), await hasTrigger('changing')]).toEqual(['tasks.letter_2', true])
  await setOnFailure('changing', null)
  expect([await onFailureOf('changing'), await hasTrigger('changing')]).toEqual([null, false])
  await setOnFailure('changing', null)
})

it('mends a trigger that somebody dropped', async () => {
  await createTaskType(pool, 'mended')
  await setOnFailure('mended', 'tasks.letter')
  await pool.query('drop trigger pg_tasks_on_failure on tasks.mended')
  await setOnFailure('mended', 'tasks.letter')
  expect(await hasTrigger('mended')).toBe(true)
})

it('says so when the table is in use, and changes nothing', async () => {
  await createTaskType(pool, 'used')
  const session = await database.client()
  await session.query('begin')
  await session.query('insert into tasks.used (payload) values (null)')
  const refusal = await refusalOf(setOnFailure('used', 'tasks.letter'))
  expect(refusal.code).toBe('TQ008')
  await session.query('rollback')
  expect([await onFailureOf('used'), await hasTrigger('used')]).toEqual([null, false])
})

describe('register', () => {
  it('keeps the target when settings change, and when nothing does', async () => {
    await createTaskType(pool, 'kept')
    await setOnFailure('kept', 'tasks.letter')
    await pool.query(`select tasks.register('tasks', 'kept', max_retries => 3)`)
    await pool.query(`select tasks.register('tasks', 'kept', max_retries => 3)`)
    expect([await onFailureOf('kept'), await hasTrigger('kept')]).toEqual(['tasks.letter', true])
  })

  it('takes no lock stronger than a reader for a type with a target, when nothing changes', async () => {
    await createTaskType(pool, 'quiet')
    await setOnFailure('quiet', 'tasks.letter')
    const session = await database.client()
    await session.query('begin')
    await session.query(`select tasks.register('tasks', 'quiet')`)
    const locks = await rowsOf(
      session,
      `select distinct mode from pg_locks where pid = pg_backend_pid() and (locktype = 'advisory' or relation in ('tasks.quiet'::regclass, 'tasks.types'::regclass))`,
    )
    await session.query('rollback')
    expect(locks).toEqual([{ mode: 'AccessShareLock' }])
  })

  it('begins without a target after unregister, which takes the trigger along', async () => {
    await createTaskType(pool, 'comes')
    await setOnFailure('comes', 'tasks.letter')
    await pool.query(`select tasks.unregister('tasks', 'comes')`)
    expect(await hasTrigger('comes')).toBe(false)
    await pool.query(`select tasks.register('tasks', 'comes')`)
    expect([await onFailureOf('comes'), await hasTrigger('comes')]).toEqual([null, false])
  })
})

it('follows renames of both tables', async () => {
  await createTaskType(pool, 'old_name', { settings: 'max_retries => 0' })
  await createTaskType(pool, 'old_target', { columns: 'failed_table text' })
  await setOnFailure('old_name', 'tasks.old_target')
  await pool.query('alter table tasks.old_target rename to new_target')
  await pool.query('alter table tasks.old_name rename to new_name')
  await pool.query(`select tasks.refresh('tasks.new_name'::regclass)`)
  await pool.query(`insert into tasks.new_name (payload) values (null)`)
  await pool.query(`select tasks.retry_tasks_old_name(id) from tasks.acquire_tasks_old_name(1)`)
  expect(await rowsOf(pool, 'select failed_table from tasks.new_target')).toEqual([{ failed_table: 'tasks.new_name' }])
})

it('is there in TypeScript', async () => {
  await createTaskType(pool, 'scripted')
  const [task, letter] = [taskOf<object>('scripted'), taskOf<object>('letter')]
  await task.setOnFailure(pool, letter)
  expect(await onFailureOf('scripted')).toBe('tasks.letter')
  await task.setOnFailure(pool, null)
  expect(await onFailureOf('scripted')).toBe(null)
  await expect(task.setOnFailure(pool, task)).rejects.toMatchObject({ code: 'INVALID_SQL_ARGUMENT' })
})

it('costs types without a target nothing: they have no trigger', async () => {
  await createTaskType(pool, 'plain')
  await startRun(pool, 'plain')
  expect(await hasTrigger('plain')).toBe(false)
})
