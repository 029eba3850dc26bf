import { describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { rowsOf } from '../sql/rows-of.js'
import { type Interleaving, interleave } from './interleave.js'
import { overlaps, overlapsPerKey, runIntervals, runsPerKey } from './run-intervals.js'

const database = await createDatabase()

const SESSIONS = 8
const TASKS = 240
const KEYS = 12

async function makeType(table: string, limits: readonly string[]): Promise<void> {
  await createTaskType(database.pool, table, { columns: 'key integer', settings: 'max_retries => null' })
  await database.pool.query(`select tasks.keep_history('tasks', '${table}')`)
  for (const limit of limits) await database.pool.query(`select tasks.${limit}`)
  await database.pool.query(
    `insert into tasks.${table} (planned_to, key)
     select now() - interval '1 hour' + g * interval '1 s', case when g % 20 > 0 then g % ${KEYS} end from generate_series(1, ${TASKS}) g`,
  )
}

/** Where everything has ended, nobody may be held, nor anything remembered that nobody looks at. */
async function expectNothingLeft(table: string): Promise<void> {
  expect(await rowsOf(database.pool, `select id from tasks.${table} where held`)).toEqual([])
}

/** Ids of each key in the order of their first run. */
async function orders(table: string): Promise<string[][]> {
  const runs = await runIntervals(database.pool, `tasks.${table}`)
  return [...runsPerKey(runs).values()].map((of) => [...new Set(of.map(({ task_id }) => task_id))])
}

const inOrder = (ids: readonly string[]) => ids.toSorted((a, b) => Number(a) - Number(b))

describe('sessions that end tasks in open transactions, which commit or roll back,', () => {
  const trial = (table: string, settings: Partial<Interleaving> = {}): Interleaving => ({
    table,
    sessions: SESSIONS,
    isolation: 'read committed',
    operations: false,
    ...settings,
  })

  it.each(['read committed', 'repeatable read', 'mixed'] as const)(
    'run the tasks of a key one after the other and in order (%s)',
    async (isolation) => {
      const table = `serial_${isolation.replace(' ', '_')}`
      await makeType(table, [`limit_keys('tasks', '${table}', '{key}')`])
      const conflicts = await interleave(database, trial(table, { isolation }), 40_000)
      const runs = await runIntervals(database.pool, `tasks.${table}`)
      expect(runs.length).toBeGreaterThanOrEqual(TASKS)
      expect(overlapsPerKey(runs, 1)).toEqual([])
      for (const ids of await orders(table)) expect(ids).toEqual(inOrder(ids))
      // Whose rows nobody else touches is in nobody's way.
      expect(conflicts).toEqual([])
      await expectNothingLeft(table)
    },
    60_000,
  )

  it.each([
    ['block', 1],
    ['block', 3],
    ['step_aside', 1],
    ['step_aside', 2],
  ] as const)(
    'keep the limit per key through retries, cancels, resets, releases and deletions (%s, %i at once)',
    async (onRetry, most) => {
      const table = `keys_${onRetry}_${most}`
      await makeType(table, [`limit_keys('tasks', '${table}', '{key}', ${most}, '${onRetry}')`])
      await interleave(database, trial(table, { isolation: 'mixed', operations: true }), 40_000)
      const runs = await runIntervals(database.pool, `tasks.${table}`)
      expect(runs.length).toBeGreaterThan(TASKS / 2)
      expect(overlapsPerKey(runs, most)).toEqual([])
      await expectNothingLeft(table)
    },
    60_000,
  )

  it('keep the concurrency of the type, with and without keys', async () => {
    await makeType('few', [`limit_concurrency('tasks', 'few', 3)`, `limit_keys('tasks', 'few', '{key}', 2)`])
    await interleave(database, trial('few', { isolation: 'mixed', operations: true }), 40_000)
    const runs = await runIntervals(database.pool, 'tasks.few')
    expect(runs.length).toBeGreaterThan(TASKS / 2)
    expect(overlaps(runs, 3)).toEqual([])
    expect(overlapsPerKey(runs, 2)).toEqual([])
    await expectNothingLeft('few')
  }, 60_000)

  it('keep the rate', async () => {
    await makeType('slow', [`limit_rate('tasks', 'slow', 200, '1 s', 5)`])
    await interleave(database, trial('slow'), 40_000)
    const starts = (await runIntervals(database.pool, 'tasks.slow')).map(({ started }) => started / 1e6)
    // In no span more than the bucket holds and what flowed in.
    for (const [from, first] of starts.entries()) {
      for (let to = from; to < starts.length; to += 1) {
        const span = (starts[to] as number) - first
        expect(to - from + 1).toBeLessThanOrEqual(5 + 200 * span + 1e-3)
      }
    }
  }, 60_000)
})
