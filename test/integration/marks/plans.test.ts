import { beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { PlanWatcher } from '../plans/nested-plans.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf } from '../sql/rows-of.js'
import { type Run, startRun } from '../sql/task-in-state.js'

const database = await createDatabase()
const { pool } = database

const BEGIN = `select * from tasks.begin_step('tasks.mail'::regclass, $1, $2, $3, true)`
const MARK = `select tasks.mark_step('tasks.mail'::regclass, $1, $2, $3)`

let watcher: PlanWatcher
let run: Run
const small: Record<string, number> = {}

async function buffers(of: string, call: string, values: readonly unknown[]): Promise<number> {
  const plans = await watcher.plansOf(call, values)
  const reads = plans
    .flatMap(({ scans }) => scans)
    .filter(({ relation }) => relation === 'marks' || relation === 'mail')
  expect(
    reads.map(({ type }) => type).filter((type) => !type.startsWith('Index')),
    of,
  ).toEqual([])
  return plans.at(-1)?.buffers ?? 0
}

/** Everything of a session's life is planned while the tables are small, as it is where a queue begins. */
beforeAll(async () => {
  await createTaskType(pool, 'mail', { settings: `timeout => '1 day'` })
  await createTaskType(pool, 'other')
  run = await startRun(pool, 'mail')
  watcher = await PlanWatcher.start(await database.client())
  for (let call = 0; call < 10; call += 1) {
    const values = [run.id, run.token, `warm ${call}`]
    small.begin = await buffers('begin', BEGIN, values)
    small.mark = await buffers('mark', MARK, values)
  }
  const [spare] = await rowsOf<{ id: string }>(pool, 'insert into tasks.mail (payload) values (null) returning id')
  await watcher.client.query('delete from tasks.mail where id = $1', [spare?.id])

  await pool.query('insert into tasks.mail (payload, planned_to) select null, $1 from generate_series(1, 50000)', [
    'infinity',
  ])
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt)
     select 'tasks.mail'::regclass, t.id, s, t.created_at, 1 from tasks.mail t, unnest('{a,b}'::text[]) s where t.id <> $1`,
    [run.id],
  )
  await pool.query(
    `insert into tasks.marks (table_id, task_id, step, created_at, attempt)
     select 'tasks.other'::regclass, g, 'a', now(), 1 from generate_series(1, 100000) g`,
  )
  await pool.query('vacuum analyze tasks.marks')
  await pool.query('vacuum analyze tasks.mail')
}, 60_000)

it('begins and marks a step by its index, beside 200,000 marks', async () => {
  // The first calls plan anew.
  const again = [run.id, run.token, 'again']
  await buffers('begin', BEGIN, again)
  await buffers('mark', MARK, again)
  const values = [run.id, run.token, 'measured']
  const [begin, mark] = [await buffers('begin', BEGIN, values), await buffers('mark', MARK, values)]
  expect(begin).toBeLessThan((small.begin ?? 0) + 10)
  expect(mark).toBeLessThan((small.mark ?? 0) + 20)
})

it('finds the marks of deleted tasks by its index, for one and for a thousand', async () => {
  const one = await buffers('one', `delete from tasks.mail where id = (select max(id) from tasks.mail)`, [])
  expect(one).toBeLessThan(100)
  const thousand = await buffers(
    'a thousand',
    'delete from tasks.mail where id = any (array(select id from tasks.mail where id <> $1 order by id limit 1000))',
    [run.id],
  )
  expect(thousand).toBeLessThan(30_000)
  const [left] = await rowsOf(
    pool,
    `select count(*)::int from tasks.marks m where table_id = 'tasks.mail'::regclass
     and not exists (select from tasks.mail t where t.id = m.task_id)`,
  )
  expect(left).toEqual({ count: 0 })
})

it('costs tasks without marks one look into the index', async () => {
  await createTaskType(pool, 'unmarked')
  await pool.query('insert into tasks.unmarked (payload) select null from generate_series(1, 1000)')
  const plans = await watcher.plansOf('delete from tasks.unmarked where id <= 1000')
  const looks = plans.filter(({ scans }) => scans.some(({ relation }) => relation === 'marks'))
  expect(looks).toHaveLength(1)
  expect(looks[0]?.buffers).toBeLessThan(10)
})
