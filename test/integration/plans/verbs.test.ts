import type { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf } from '../sql/rows-of.js'
import { deleteReady, fillTable, WORKERS } from './fill-table.js'
import { type NestedPlan, PlanWatcher } from './nested-plans.js'

interface Run {
  readonly id: string
  readonly token: string
}

interface Indexes {
  readonly id: string
  readonly ready: string
  readonly suspect: string
  readonly running: string
  readonly finished: string
  readonly failed: string
  readonly canceled: string
}

const WORKER = WORKERS[0]

/** Calls that reach every statement of the verbs, with what is known of a few running tasks. */
async function callEveryVerb(watcher: PlanWatcher, runs: readonly Run[]): Promise<Map<string, NestedPlan[]>> {
  const plans = new Map<string, NestedPlan[]>()
  const call = async (verb: string, text: string, values: readonly unknown[] = []) =>
    plans.set(verb, [...(plans.get(verb) ?? []), ...(await watcher.plansOf(text, values))])
  const [first, second, third, fourth, fifth, ...rest] = runs
  await call('acquire', 'select * from tasks.acquire_tasks_big(100)')
  await call('acquire', 'select * from tasks.acquire_tasks_big(100, $1)', [WORKER])
  await call('next_due', 'select * from tasks.next_due_tasks_big($1)', [WORKER])
  await call('rescue', 'select tasks.rescue_tasks_big()')
  await call('heartbeat', 'select * from tasks.heartbeat_tasks_big($1, $2, $3)', [
    WORKER,
    runs.map(({ id }) => id),
    runs.map(({ token }) => token),
  ])
  await call('finish_many', 'select * from tasks.finish_many_tasks_big($1, $2)', [
    rest.map(({ id }) => id),
    rest.map(({ token }) => token),
  ])
  await call('finish', 'select tasks.finish_tasks_big($1, run_token => $2)', [first?.id, first?.token])
  await call('retry', 'select tasks.retry_tasks_big($1, run_token => $2)', [second?.id, second?.token])
  await call('release', 'select tasks.release_tasks_big($1, $2)', [third?.id, third?.token])
  await call('cancel', 'select tasks.cancel_tasks_big($1)', [fourth?.id])
  await call('reset', 'select tasks.reset_tasks_big($1)', [fifth?.id])
  for (const state of ['finished', 'failed', 'canceled']) {
    await call('clean_before', `select tasks.clean_before_tasks_big(now() - interval '3 days', array[$1], 10)`, [state])
  }
  return plans
}

async function indexesOf(pool: Pool): Promise<Indexes> {
  const rows = await rowsOf<{ name: string; definition: string }>(
    pool,
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'tasks.big'::regclass`,
  )
  const named = (pattern: RegExp) =>
    rows.find(({ definition }) => pattern.test(definition))?.name.replace('tasks.', '') ?? ''
  return {
    id: named(/\(id\)/),
    ready: named(/\(priority, planned_to, id\)/),
    suspect: named(/\(planned_to, id\)/),
    running: named(/\(run_worker, run_until\)/),
    finished: named(/\(finished_at\)/),
    failed: named(/\(failed_at\)/),
    canceled: named(/\(canceled_at\)/),
  }
}

/** Which indexes of the table the statements of a verb walk; a sequential scan shows as itself. */
function walked(plans: readonly NestedPlan[] = []): string[] {
  const scans = plans.flatMap((plan) => plan.scans).filter(({ relation }) => relation === 'big')
  return [...new Set(scans.map(({ index, type }) => index ?? type))].sort()
}

describe.each([
  ['with statistics', 'analyze'],
  ['right after a bulk load, without statistics', 'load'],
  ['with plans that were made while the table was empty', 'cached'],
] as const)('A table of 310,000 tasks %s', (_, situation) => {
  let pool: Pool
  let watcher: PlanWatcher
  let plans: Map<string, NestedPlan[]>
  let indexes: Indexes
  beforeAll(async () => {
    const database = await createDatabase()
    pool = database.pool
    watcher = await PlanWatcher.start(await database.client())
    await createTaskType(pool, 'big', { settings: `timeout => '1 hour'` })
    await pool.query('alter table tasks.big set (autovacuum_enabled = off)')
    if (situation === 'cached') {
      // Six calls each: after five, PostgreSQL may settle on a plan without regard to the arguments.
      for (let round = 0; round < 6; round += 1) {
        await pool.query('insert into tasks.big default values; '.repeat(20))
        const { rows } = await pool.query(`select id::text, run_token as token from tasks.acquire_tasks_big(10)`)
        await callEveryVerb(watcher, rows)
      }
      await pool.query('delete from tasks.big')
    }
    await fillTable(pool, 'tasks.big')
    if (situation === 'analyze') await pool.query('vacuum analyze tasks.big')
    const runs = await rowsOf<{ id: string; token: string }>(
      pool,
      `select id::text, run_token as token from tasks.big
       where started_at is not null and finished_at is null and failed_at is null and not canceled and run_token is not null limit 60`,
    )
    indexes = await indexesOf(pool)
    plans = await callEveryVerb(watcher, runs)
  })

  it('is never read as a whole', () => {
    const all = new Set([...plans.values()].flatMap(walked))
    expect([...all].sort()).toEqual(Object.values(indexes).sort())
  })

  it.each(['finish', 'finish_many', 'retry', 'release', 'cancel', 'reset'])('is reached by id alone in %s', (verb) => {
    expect(walked(plans.get(verb))).toEqual([indexes.id])
  })

  it('is picked from in the order of the index, without a sort', () => {
    const picks = plans.get('acquire')?.filter(({ text }) => /lost_count < 2/.test(text)) ?? []
    expect(picks).not.toHaveLength(0)
    expect(walked(picks)).toEqual([indexes.ready])
    expect(picks.filter(({ sorts }) => sorts)).toEqual([])
  })

  it('is rescued, and asked for what is due next, in the order of indexes', () => {
    expect(walked(plans.get('next_due'))).toEqual([indexes.ready, indexes.running, indexes.suspect].sort())
    expect(plans.get('next_due')?.filter(({ sorts }) => sorts)).toEqual([])
    expect(walked(plans.get('rescue'))).toEqual([indexes.running])
  })

  it('is watched by id, and for others by small indexes', () => {
    const own = plans.get('heartbeat')?.filter(({ text }) => /unnest/.test(text))
    expect(walked(own)).toEqual([indexes.id])
    expect([indexes.id, indexes.running, indexes.suspect]).toEqual(
      expect.arrayContaining(walked(plans.get('heartbeat'))),
    )
  })

  it('is cleaned from the index of each end', () => {
    const found = plans.get('clean_before')?.filter(({ text }) => /skip locked/.test(text))
    expect([indexes.id, indexes.finished, indexes.failed, indexes.canceled]).toEqual(
      expect.arrayContaining(walked(found)),
    )
  })

  it('costs an acquire of 100 what 100 rows cost', async () => {
    expect(await watcher.buffersOf('select * from tasks.acquire_tasks_big(100, $1)', [WORKER])).toBeLessThan(2_500)
    // If it is a sweep, it walks what was just taken; then it is known to be dead.
    expect(await watcher.leastBuffersOf('select * from tasks.acquire_tasks_big(1, $1)', [WORKER])).toBeLessThan(80)
  })

  it('costs next to nothing when nothing is ready', async () => {
    await deleteReady(pool, 'tasks.big')
    const calls = [
      `select * from tasks.acquire_tasks_big(100, '${WORKER}')`,
      `select * from tasks.next_due_tasks_big('${WORKER}')`,
      'select * from tasks.acquire_tasks_big(100)',
      'select * from tasks.rescue_tasks_big()',
    ]
    for (const call of calls)
      expect([call, await watcher.leastBuffersOf(call)]).toEqual([call, expect.toSatisfy((n) => n < 50)])
  })
})
