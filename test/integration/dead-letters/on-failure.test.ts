import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { type Run, startRun, stateOf } from '../sql/task-in-state.js'

const database = await createDatabase()
const { pool } = database

const LETTER = 'failed_table text not null, failed_id bigint not null, failed_reason text not null, failed_error text'

let types = 0

interface Pair {
  readonly table: string
  readonly letters: string
}

/** A type with one execution per task, and the type that its failures are passed on to. */
async function pair({ columns = 'payload text', letter = `payload text, ${LETTER}` } = {}): Promise<Pair> {
  types += 1
  const [table, letters] = [`sent_${types}`, `letter_${types}`]
  await createTaskType(pool, table, { columns, settings: 'max_retries => 0' })
  await createTaskType(pool, letters, { columns: letter })
  await pool.query(`select tasks.set_on_failure('tasks', $1, $2)`, [table, `tasks.${letters}`])
  return { table, letters }
}

/** The ways in which a running task fails for good. */
const FAIL: ReadonlyArray<readonly [way: string, reason: string, fail: (table: string, run: Run) => Promise<unknown>]> =
  [
    ['retry', 'error', (table, { id }) => pool.query(`select tasks.retry_tasks_${table}($1, error => 'boom')`, [id])],
    [
      'retry after the run limit',
      'run_limit',
      (table, { id }) =>
        pool.query(`select tasks.retry_tasks_${table}($1, error => 'boom', reason => 'run_limit')`, [id]),
    ],
    [
      'rescue',
      'lost',
      async (table, { id }) => {
        await pool.query(`update tasks.${table} set run_until = '-infinity' where id = $1`, [id])
        await pool.query(`select tasks.rescue_tasks_${table}()`)
      },
    ],
    [
      'acquire, when the executions are used up',
      'error',
      async (table, { id }) => {
        await pool.query(`update tasks.${table} set started_at = null, run_token = null where id = $1`, [id])
        const { rowCount } = await pool.query(`select * from tasks.acquire_tasks_${table}(10)`)
        expect(rowCount).toBe(0)
      },
    ],
    [
      "an update of the user's",
      'error',
      (table, { id }) => pool.query(`update tasks.${table} set failed_at = now() where id = $1`, [id]),
    ],
  ]

describe.each(FAIL)('%s', (_, reason, fail) => {
  it('passes a task that fails for good on, with the reason, in the same statement', async () => {
    const { table, letters } = await pair()
    const run = await startRun(pool, table)
    await pool.query(`update tasks.${table} set payload = 'p', priority = 0 where id = $1`, [run.id])
    await fail(table, run)
    expect(await stateOf(pool, table, run.id)).toBe('failed')
    const rows = await rowsOf(pool, `select * from tasks.${letters}`)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      failed_table: `tasks.${table}`,
      failed_id: run.id,
      failed_reason: reason,
      payload: 'p',
      priority: 0,
      execution_count: 0,
      started_at: null,
      failed_at: null,
      comment: null,
    })
    expect(await stateOf(pool, letters, rows[0]?.id)).toBe('ready')
  })

  it('fails the task all the same where it can not be passed on', async () => {
    const { table, letters } = await pair()
    await pool.query(`alter table tasks.${letters} add constraint none check (payload is not null)`)
    const run = await startRun(pool, table)
    await fail(table, run)
    expect(await stateOf(pool, table, run.id)).toBe('failed')
    expect(await rowsOf(pool, `select from tasks.${letters}`)).toEqual([])
  })
})

it('is rolled back with the failure', async () => {
  const { table, letters } = await pair()
  const run = await startRun(pool, table)
  const session = await database.client()
  await session.query('begin')
  await session.query(`select tasks.retry_tasks_${table}($1)`, [run.id])
  expect(await rowsOf(session, `select from tasks.${letters}`)).toHaveLength(1)
  await session.query('rollback')
  expect(await stateOf(pool, table, run.id)).toBe('running')
  expect(await rowsOf(pool, `select from tasks.${letters}`)).toEqual([])
})

it('passes nothing on while executions are left, and again when a task that was reset fails again', async () => {
  const { table, letters } = await pair()
  await pool.query(`select tasks.configure('tasks', $1, 'max_retries', '1')`, [table])
  const { id } = await startRun(pool, table)
  const count = () => scalarOf(pool, `select count(*)::int from tasks.${letters}`)
  const fail = () => scalarOf(pool, `select tasks.retry_tasks_${table}($1, planned_to => now())`, [id])
  expect([await fail(), await count()]).toEqual(['ready', 0])
  await pool.query(`select * from tasks.acquire_tasks_${table}(1)`)
  expect([await fail(), await count()]).toEqual(['failed', 1])
  await pool.query(`select tasks.reset_tasks_${table}($1)`, [id])
  await pool.query(`select * from tasks.acquire_tasks_${table}(1)`)
  await fail()
  await pool.query(`select * from tasks.acquire_tasks_${table}(1)`)
  expect([await fail(), await count()]).toEqual(['failed', 2])
})

it('brings columns over as they are', async () => {
  const columns = `bytes bytea, exact numeric, json_null jsonb not null, at timestamptz, span interval, list int[],
    mood mood, code char(3), "select" text, number int, "Odd Näme" float8`
  await pool.query(`create type public.mood as enum ('good', 'bad')`)
  const { table, letters } = await pair({
    columns: columns.replace('mood mood', 'mood public.mood'),
    letter: `${columns.replace('mood mood', 'mood text').replace('number int', 'number numeric(8, 2)')}, extra text default 'x', ${LETTER}`,
  })
  await pool.query(
    `insert into tasks.${table} (started_at, execution_count, bytes, exact, json_null, at, span, list, mood, code, "select", number, "Odd Näme")
     values (now(), 1, '\\x00ff', 12345678901234567890.123456789, 'null', 'infinity', '1 mon 2 days', '[2:3]={7,8}', 'bad', 'abc', 'x', 7,
       0.1::float8 + 0.2::float8)`,
  )
  await pool.query(`select tasks.retry_tasks_${table}(id) from tasks.${table}`)
  const compared = `bytes::text, exact::text, json_null::text, at::text, span::text, list::text, mood::text, code, "select", number::int, "Odd Näme"::text`
  const [[sent], [letter]] = [
    await rowsOf(pool, `select ${compared} from tasks.${table}`),
    await rowsOf(pool, `select ${compared}, extra from tasks.${letters}`),
  ]
  expect(letter).toEqual({ ...sent, extra: 'x' })
})

it('fills in only what the target has', async () => {
  const { table, letters } = await pair({ letter: 'nothing_in_common text' })
  const { id } = await startRun(pool, table)
  await pool.query(`select tasks.retry_tasks_${table}($1)`, [id])
  expect(await rowsOf(pool, `select nothing_in_common from tasks.${letters}`)).toEqual([{ nothing_in_common: null }])
})

it('leaves identities, generated columns and the columns of the queue to the target', async () => {
  const { table, letters } = await pair({
    columns: 'payload text, number int, doubled int',
    letter: `payload text, number int generated always as identity, doubled int generated always as (length(payload) * 2) stored, ${LETTER}`,
  })
  const { id } = await startRun(pool, table)
  await pool.query(
    `update tasks.${table} set payload = 'abc', number = 77, doubled = 1, comment = 'mine' where id = $1`,
    [id],
  )
  await pool.query(`select tasks.retry_tasks_${table}($1)`, [id])
  expect(await rowsOf(pool, `select number, doubled, comment from tasks.${letters}`)).toEqual([
    { number: 1, doubled: 6, comment: null },
  ])
})

it('passes on from a letter to the next type, naming the letter', async () => {
  const { table, letters } = await pair()
  await createTaskType(pool, 'last', { columns: `payload text, ${LETTER}` })
  await pool.query(`select tasks.configure('tasks', $1, 'max_retries', '0')`, [letters])
  await pool.query(`select tasks.set_on_failure('tasks', $1, 'tasks.last')`, [letters])
  const { id } = await startRun(pool, table)
  await pool.query(`select tasks.retry_tasks_${table}($1)`, [id])
  await pool.query(`select tasks.retry_tasks_${letters}(id) from tasks.acquire_tasks_${letters}(1)`)
  expect(await rowsOf(pool, 'select failed_table from tasks.last')).toEqual([{ failed_table: `tasks.${letters}` }])
})

it('passes on all of a thousand tasks that one rescue fails', async () => {
  const { table, letters } = await pair()
  await pool.query(
    `insert into tasks.${table} (started_at, execution_count, run_token, run_until)
     select now(), 1, gen_random_uuid(), '-infinity' from generate_series(1, 1000)`,
  )
  await pool.query(`select tasks.rescue_tasks_${table}()`)
  expect(await scalarOf(pool, `select count(distinct failed_id)::int from tasks.${letters}`)).toBe(1000)
})

describe('a task whose letter can not be written has failed all the same, and a warning says why', () => {
  async function warningsOf({ table }: Pair): Promise<string[]> {
    const session = await database.client()
    const warnings: string[] = []
    session.on('notice', ({ message }) => warnings.push(message ?? ''))
    const { id } = await startRun(pool, table)
    await session.query(`select tasks.retry_tasks_${table}($1)`, [id])
    expect(await stateOf(pool, table, id)).toBe('failed')
    return warnings
  }

  it('where the target was dropped', async () => {
    const both = await pair()
    await pool.query(`drop table tasks.${both.letters} cascade`)
    expect(await warningsOf(both)).toEqual([
      expect.stringMatching(/task \d+ of tasks\.sent_\d+ failed and could not be passed on to \d+: the table is gone/),
    ])
  })

  it('where a column of the target is needed that was added later', async () => {
    const both = await pair()
    await pool.query(`alter table tasks.${both.letters} add later text not null`)
    expect(await warningsOf(both)).toEqual([expect.stringContaining('null value in column "later"')])
  })

  it('where a trigger of the target refuses', async () => {
    const both = await pair()
    await pool.query(
      `create function public.refuse_${both.letters}() returns trigger language plpgsql as $$ begin raise 'no letters'; end $$`,
    )
    await pool.query(
      `create trigger refuse before insert on tasks.${both.letters} for each row execute function public.refuse_${both.letters}()`,
    )
    expect(await warningsOf(both)).toEqual([expect.stringContaining('no letters')])
  })

  it('where a constraint that is checked at COMMIT is violated', async () => {
    const both = await pair()
    await pool.query(`create table public.parents_${both.letters} (id bigint primary key)`)
    await pool.query(
      `alter table tasks.${both.letters} add foreign key (failed_id) references public.parents_${both.letters} deferrable initially deferred`,
    )
    expect(await warningsOf(both)).toEqual([expect.stringContaining('violates foreign key constraint')])
    expect(await rowsOf(pool, `select from tasks.${both.letters}`)).toEqual([])
  })
})

it('leaves the constraints of the transaction deferred', async () => {
  const { table, letters } = await pair()
  await pool.query('create table public.kept (id bigint primary key)')
  await pool.query(
    `alter table tasks.${letters} add parent bigint default 1 references public.kept deferrable initially deferred`,
  )
  await pool.query('insert into public.kept values (1)')
  const { id } = await startRun(pool, table)
  const session = await database.client()
  await session.query('begin')
  await session.query(`select tasks.retry_tasks_${table}($1)`, [id])
  await session.query(
    `insert into tasks.${letters} (failed_table, failed_id, failed_reason, parent) values ('x', 1, 'error', 2)`,
  )
  await session.query('insert into public.kept values (2)')
  await session.query('commit')
  expect(await rowsOf(pool, `select from tasks.${letters}`)).toHaveLength(2)
})

it('does not swallow what passes by itself: a lock that is not had in time fails the failure too', async () => {
  const { table, letters } = await pair()
  const run = await startRun(pool, table)
  const [holder, session] = [await database.client(), await database.client()]
  await holder.query('begin')
  await holder.query(`lock table tasks.${letters} in access exclusive mode`)
  await session.query(`set lock_timeout = '50ms'`)
  await expect(session.query(`select tasks.retry_tasks_${table}($1)`, [run.id])).rejects.toMatchObject({
    code: '55P03',
  })
  await holder.query('rollback')
  expect(await stateOf(pool, table, run.id)).toBe('running')
  await session.query(`select tasks.retry_tasks_${table}($1)`, [run.id])
  expect(await rowsOf(pool, `select from tasks.${letters}`)).toHaveLength(1)
})
