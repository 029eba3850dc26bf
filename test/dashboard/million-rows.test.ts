import {
  type BrowseTasksOptions,
  browseTasks,
  countRunning,
  countTasks,
  durationBuckets,
  endedBuckets,
  newestDurations,
  type Queryable,
  readTask,
  selectIds,
  type TaskCursor,
  taskColumns,
  typeOverviews,
} from '@pg-tasks/sql'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { useBrowser } from './support/browser.js'
import { serveDashboard } from './support/serve-dashboard.js'
import { readingsOf } from './support/watch-plans.js'

const database = await createDatabase()
const client = await database.client()
const open = useBrowser()

const TYPE = { schema: 'tasks', table: 'big', functionName: 'tasks_big' }
const SHOW = ['id', 'customer', 'note', 'planned_to', 'finished_at']

/** Filters that no index serves are tried on so many rows at a time; twice, to find where the next part begins. */
const MOST_ROWS = 25_100

/** 700,000 finished ones within two hours, 150,000 ready, 130,000 scheduled, 10,000 each failed and canceled, 1,000 running. */
beforeAll(async () => {
  await database.pool.query(`
    create table tasks.big (
      like tasks.template including defaults including identity including indexes,
      customer integer not null, colour text not null, note text
    );
    create index on tasks.big (customer);
    create index on tasks.big (colour);
    select tasks.register('tasks', 'big');
    insert into tasks.big (planned_to, priority, customer, colour, note, started_at, finished_at, failed_at, failure_reason, canceled, canceled_at, execution_count, run_worker)
    select
      case when k < 15 then now() - g * interval '10 ms' when k < 28 then now() + g * interval '1 s' else now() - g * interval '7 ms' - interval '5 s' end,
      g % 4, g % 20000, case when g % 2 = 0 then 'red' else 'blue' end, 'note ' || g,
      case when k >= 28 then now() - g * interval '7 ms' - interval '3 s' end,
      case when k >= 30 and g % 1000 <> 7 then now() - g * interval '7 ms' end,
      case when k = 28 then now() - g * interval '7 ms' end, case when k = 28 then 'error' end,
      k = 29, case when k = 29 then now() - g * interval '7 ms' end,
      (k >= 28)::integer, case when g % 1000 = 7 then '00000000-0000-4000-8000-000000000001'::uuid end
    from generate_series(1, 1000000) g cross join lateral (select g::bigint * 7919 % 100 as k) kind`)
  await database.pool.query('vacuum analyze tasks.big')
}, 300_000)

async function columns() {
  return taskColumns(database.pool, TYPE)
}

const LISTS: ReadonlyArray<readonly [string, Omit<BrowseTasksOptions, 'show'>]> = [
  ['all, the newest first', {}],
  ['ready ones', { state: 'ready' }],
  ['scheduled ones', { state: 'scheduled' }],
  ['running ones', { state: 'running' }],
  ['finished ones', { state: 'finished' }],
  ['failed ones', { state: 'failed' }],
  ['canceled ones', { state: 'canceled' }],
  ['a rare value of an indexed column', { filters: [{ column: 'customer', operator: 'eq', value: '77' }] }],
  [
    'a rare value of an indexed column in a state',
    { state: 'ready', filters: [{ column: 'customer', operator: 'eq', value: '77' }] },
  ],
  ['a frequent value of an indexed column', { filters: [{ column: 'colour', operator: 'eq', value: 'red' }] }],
  ['a column without an index that meets nothing', { filters: [{ column: 'note', operator: 'eq', value: 'nowhere' }] }],
  [
    'a column without an index in a state',
    { state: 'ready', filters: [{ column: 'note', operator: 'contains', value: 'nowhere' }] },
  ],
  ['a rare state in the order of ids', { state: 'running', order: { column: 'id', descending: false } }],
  ['the order of an indexed column', { order: { column: 'customer', descending: false } }],
  [
    'the order of an indexed column, in a state, filtered',
    {
      state: 'failed',
      order: { column: 'customer', descending: true },
      filters: [{ column: 'note', operator: 'contains', value: '999' }],
    },
  ],
]

async function expectBounded(work: (connection: Queryable) => Promise<unknown>, most = MOST_ROWS): Promise<void> {
  const readings = await readingsOf(client, 'big', work)
  expect(readings.length).toBeGreaterThan(0)
  for (const { statement, rows, sequential } of readings) {
    expect({ statement, sequential, rows: rows <= most ? 'few' : rows }).toEqual({
      statement,
      sequential: false,
      rows: 'few',
    })
  }
}

describe('with a million tasks', () => {
  it.each(LISTS)('a page reads few of them: %s', async (_, options) => {
    const known = await columns()
    let after: TaskCursor | undefined
    for (let n = 0; n < 3; n += 1) {
      await expectBounded(async (connection) => {
        const page = await browseTasks(connection, TYPE, known, { ...options, show: SHOW, after })
        after = page.next ?? undefined
      })
      if (after === undefined) break
    }
  })

  it.each(LISTS)('its pages hold each task once, in order: %s', async (_, options) => {
    const known = await columns()
    const ids: string[] = []
    let after: TaskCursor | undefined
    for (let n = 0; n < 4; n += 1) {
      const page = await browseTasks(database.pool, TYPE, known, { ...options, show: SHOW, after, limit: 20 })
      ids.push(...page.tasks.map(({ id }) => id))
      if (page.next === null) break
      after = page.next
    }
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('finds all tasks of a rare value, wherever they are', async () => {
    const page = await browseTasks(database.pool, TYPE, await columns(), {
      show: SHOW,
      filters: [{ column: 'customer', operator: 'eq', value: '77' }],
    })
    expect(page).toMatchObject({ tasks: { length: 50 }, next: null, searched: null })
  })

  it('searches on where no index serves the filter, until it has seen everything', async () => {
    const known = await columns()
    const options = { filters: [{ column: 'note', operator: 'eq', value: 'note 950000' } as const] }
    let after: TaskCursor | undefined
    let found = 0
    for (let n = 0; n < 110; n += 1) {
      const page = await browseTasks(database.pool, TYPE, known, { ...options, show: SHOW, after })
      found += page.tasks.length
      if (page.next === null) break
      expect(page.searched).toBe(10_000)
      after = page.next
    }
    expect(found).toBe(1)
  })

  it('counts and charts read few of them', async () => {
    const [type] = await typeOverviews(database.pool, TYPE)
    expect(type).toBeDefined()
    await expectBounded((connection) => countTasks(connection, TYPE), 61_000)
    await expectBounded((connection) => newestDurations(connection, TYPE, 500), 600)
    const buckets = { fromMs: Date.now() - 7_200_000, stepMs: 120_000, count: 60 }
    await expectBounded((connection) => endedBuckets(connection, TYPE, buckets, 400), 50_000)
    await expectBounded((connection) => durationBuckets(connection, TYPE, buckets, 40), 3_000)
    await expectBounded((connection) => countRunning(connection, TYPE), 10_001)
    await expectBounded((connection) => readTask(connection, TYPE, '500000', { show: SHOW }), 1)
    await expectBounded((connection) => selectIds(connection, TYPE, [], { state: 'ready', limit: 5_000 }), 26_000)
  })

  it('counts exactly up to a limit, and about right beyond it', async () => {
    const counted = await countTasks(database.pool, TYPE)
    const { rows } = await database.pool.query(
      "select (s.row).* from (select tasks.count_states('tasks.big') as row) s",
    )
    const [exact] = rows
    for (const state of ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled'] as const) {
      const { count, about } = counted.states[state]
      const truth = Number(exact[state])
      if (!about) expect([state, count]).toEqual([state, truth])
      // ANALYZE looks at 30,000 rows: of one in a hundred it knows about 300, give or take a quarter at most.
      else if (state !== 'ready' && state !== 'scheduled') expect(Math.abs(count - truth) / truth).toBeLessThan(0.25)
    }
    expect(counted.states.running).toEqual({ count: Number(exact.running), about: false })
    expect(counted.states.finished.about).toBe(true)
  })

  it('reckons how many ended in a busy step from the pace of its first tasks', async () => {
    const { rows } = await database.pool.query(
      `select (1000 * extract(epoch from max(finished_at)))::double precision as last from tasks.big`,
    )
    const buckets = { fromMs: rows[0].last - 3_600_000, stepMs: 600_000, count: 5 }
    const { finished } = await endedBuckets(database.pool, TYPE, buckets, 300)
    const truth = await database.pool.query(
      `select count(*)::integer as count from tasks.big where finished_at >= to_timestamp($1::double precision / 1000) and finished_at < to_timestamp(($1::double precision + 600000) / 1000)`,
      [buckets.fromMs],
    )
    expect(finished[0]?.about).toBe(true)
    expect(Math.abs((finished[0]?.count ?? 0) / truth.rows[0].count - 1)).toBeLessThan(0.2)
  })

  it('the pages are shown', async () => {
    const { url } = await serveDashboard({ connectionString: database.url })
    const { page } = await open(url)
    await page
      .getByRole('link', { name: /^big: finished/ })
      .getByText('≈')
      .waitFor()
    await page.getByRole('link', { name: 'big', exact: true }).click()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('button', { name: 'First page' }).waitFor()
    await page.getByRole('link', { name: /^failed/ }).click()
    await page.getByRole('cell', { name: 'failed', exact: true }).first().waitFor()
    await page.getByLabel('Column', { exact: true }).selectOption('note')
    await page.getByLabel('Value').fill('nowhere')
    await page.getByRole('link', { name: 'all', exact: true }).click()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByText('Searched 10,000 rows so far').waitFor()
  })
})
