import { beforeEach, describe, expect, it } from 'vitest'
import { PlanWatcher } from '../integration/plans/nested-plans.js'
import { createTaskType } from '../integration/sql/create-task-type.js'
import { rowsOf, scalarOf } from '../integration/sql/rows-of.js'
import { createDatabase } from '../support/test-database.js'

const database = await createDatabase()
const session = await database.client()
let round = 0
let table: string

beforeEach(async () => {
  round += 1
  table = `held${round}`
  await createTaskType(session, table)
  // Nobody has looked at how large it is, and it has no index for the foreign key.
  await session.query(`create table keeper${round} (task_id bigint references tasks.${table})`)
})

/** Tasks that ended a year ago, each so many milliseconds after the one before. */
async function fill(count: number, apartMs = 1): Promise<void> {
  await session.query(
    `insert into tasks.${table} (started_at, finished_at, execution_count)
     select now() - interval '1 year', now() - interval '1 year' + g * $2 * interval '1 ms', 1 from generate_series(1, $1) g`,
    [count, apartMs],
  )
}

const keep = (condition: string) =>
  session.query(`insert into keeper${round} select id from tasks.${table} where ${condition}`)
const clean = (maxNum: number | null) =>
  scalarOf<string>(session, `select tasks.clean_tasks_${table}('1 day', max_num => $1)`, [maxNum])
const left = async () =>
  (await rowsOf(session, `select id from tasks.${table} order by id`)).map(({ id }) => Number(id))

// B-63
describe('cleaning a type that a foreign key refers to', () => {
  it('sorts no more than a batch, although nothing is known of the sizes', async () => {
    await fill(30_000)
    await keep('id <= 10')
    const watcher = await PlanWatcher.start(await database.client())
    const plans = await watcher.plansOf(`select tasks.clean_tasks_${table}('1 day', max_num => 2000)`)
    const byEnd = (
      await rowsOf(session, 'select indexrelid::regclass::text as index from pg_index where indrelid = $1::regclass', [
        `tasks.${table}`,
      ])
    )
      .map(({ index }) => String(index).replace('tasks.', ''))
      .filter((index) => index.includes('finished_at'))
    const reading = plans.filter(({ scans }) => scans.some(({ index }) => index !== undefined && byEnd.includes(index)))
    expect(reading).not.toEqual([])
    expect(reading.filter(({ sorts }) => sorts)).toEqual([])
    expect(await left()).toHaveLength(28_000)
  })

  it.each([0, 1])(
    'passes by any number of rows that are held, %i ms apart, and deletes what is behind them',
    async (apartMs) => {
      await fill(3_600, apartMs)
      await keep('id <= 2500 or id > 3500')
      expect(await clean(300)).toBe('300')
      expect((await left()).filter((id) => id > 2_500 && id <= 3_500)).toHaveLength(700)
      expect(await clean(null)).toBe('700')
      expect(await left()).toHaveLength(2_600)
      expect(await clean(null)).toBe('0')
    },
  )

  it('takes the oldest of those that are free', async () => {
    await fill(2_000)
    await keep('id % 2 = 0')
    expect(await clean(600)).toBe('600')
    expect((await left()).filter((id) => id % 2 === 1)).toEqual(
      Array.from({ length: 400 }, (_, index) => 1_201 + 2 * index),
    )
  })
})
