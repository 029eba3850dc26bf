import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'
import { taskInState } from '../sql/task-in-state.js'
import { taskOf } from '../worker/start-worker.js'

const database = await createDatabase()
const { pool } = database

async function idsOf(table: string, rest = ''): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(pool, `select id from tasks.failed_tasks('tasks.${table}'${rest})`)
  return rows.map(({ id }) => id)
}

it('lists failed tasks, newest first, and none in another state', async () => {
  await createTaskType(pool, 'listed')
  const failed = [await taskInState(pool, 'listed', 'failed'), await taskInState(pool, 'listed', 'failed')]
  for (const state of ['scheduled', 'finished', 'canceled'] as const) await taskInState(pool, 'listed', state)
  // Failed first, and then something else: it counts as that.
  const canceled = await taskInState(pool, 'listed', 'failed')
  await pool.query('update tasks.listed set canceled = true where id = $1', [canceled.id])

  expect(await idsOf('listed')).toEqual([failed[1]?.id, failed[0]?.id])
  const [row] = await rowsOf(pool, `select * from tasks.failed_tasks('tasks.listed', 1)`)
  expect(row).toEqual({
    id: failed[1]?.id,
    failed_at: expect.any(Date),
    failure_reason: 'error',
    execution_count: 2147483647,
    last_error: 'boom',
  })
  expect(await scalarOf(pool, `select failed from tasks.stats_of_tasks_listed`)).toBe('2')
})

it('pages through tasks that failed at the same instant and within a millisecond', async () => {
  await createTaskType(pool, 'paged')
  await pool.query(
    `insert into tasks.paged (started_at, failed_at, failure_reason)
     select now(), timestamptz '2026-01-01 00:00:00.123456+00' + (n / 10) * interval '3 microseconds', 'lost'
     from generate_series(1, 100) n`,
  )
  const all = await idsOf('paged')
  expect(all).toHaveLength(100)

  const task = taskOf<object>('paged')
  const paged: string[] = []
  for (let before: string | undefined; ; ) {
    const page = await task.failed(pool, { limit: 7, ...(before === undefined ? {} : { before }) })
    paged.push(...page.map(({ id }) => id))
    if (page.length === 0) break
    before = page.at(-1)?.cursor
  }
  expect(paged).toEqual(all)

  const inSql: string[] = []
  for (
    let page = await rowsOf(pool, `select * , failed_at::text as at from tasks.failed_tasks('tasks.paged', 9)`);
    page.length > 0;
  ) {
    inSql.push(...page.map(({ id }) => id as string))
    const last = page.at(-1)
    page = await rowsOf(pool, `select *, failed_at::text as at from tasks.failed_tasks('tasks.paged', 9, $1, $2)`, [
      last?.at,
      last?.id,
    ])
  }
  expect(inSql).toEqual(all)
})

it('goes on behind a task that was reset meanwhile', async () => {
  await createTaskType(pool, 'moving')
  const runs = []
  for (let number = 0; number < 4; number += 1) runs.push(await taskInState(pool, 'moving', 'failed'))
  const task = taskOf<object>('moving')
  const [, second] = await task.failed(pool, { limit: 2 })
  await task.reset(pool, second?.id as string)
  const rest = await task.failed(pool, { before: second?.cursor as string })
  expect(rest.map(({ id }) => id)).toEqual([runs[1]?.id, runs[0]?.id])
})

it('gives TypeScript what it needs of a failed task', async () => {
  await createTaskType(pool, 'typed')
  const { id } = await taskInState(pool, 'typed', 'failed')
  expect(await taskOf<object>('typed').failed(pool)).toEqual([
    {
      id,
      failedAt: expect.any(Date),
      reason: 'error',
      attempts: 2147483647,
      lastError: 'boom',
      cursor: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\/\d+$/),
    },
  ])
})

it.each([
  ['p_table must be a task table', `null`],
  ['p_limit must be at least 1', `'tasks.listed', 0`],
  ['p_limit must be at least 1', `'tasks.listed', null`],
])('is refused: %s', async (message, args) => {
  const refusal = await refusalOf(pool.query(`select * from tasks.failed_tasks(${args})`))
  expect(refusal).toMatchObject({ code: 'TQ003', message: `failed_tasks: ${message}` })
})
