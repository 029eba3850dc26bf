import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const CALLERS = 50

beforeAll(async () => {
  await createTaskType(database.pool, 'mail', { columns: 'shop integer, lang text, reason text' })
  await createTaskType(database.pool, 'plain')
  await database.pool.query("select tasks.unique_while('tasks', 'mail', '{shop,lang}')")
})

const enqueue = (rows: unknown, mode: string | null, delay: string | null = null, table = 'tasks.mail') =>
  rowsOf<{ id: string; outcome: string }>(
    database.pool,
    'select id, outcome from tasks.enqueue($1, $2::jsonb, $3, $4::interval) order by place',
    [table, JSON.stringify(rows), mode, delay],
  )

describe('fifty callers that enqueue the same task at once', () => {
  it.each(['ignore', 'replace', 'postpone', 'advance'])('get one task and no error (%s)', async (mode) => {
    const clients = await Promise.all(Array.from({ length: CALLERS }, () => database.client()))
    const answers = await Promise.all(
      clients.map(async (client, caller) => {
        const { rows } = await client.query('select id, outcome from tasks.enqueue($1, $2::jsonb, $3)', [
          'tasks.mail',
          JSON.stringify([{ shop: 1, lang: mode, reason: String(caller) }]),
          mode,
        ])
        return rows[0] as { id: string; outcome: string }
      }),
    )
    await Promise.all(clients.map((client) => client.end()))
    expect(answers.filter(({ outcome }) => outcome === 'enqueued')).toHaveLength(1)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(await scalarOf(database.pool, 'select count(*)::int from tasks.mail where lang = $1', [mode])).toBe(1)
  })

  it('in bulks of several, each in an order of its own, do not deadlock', async () => {
    const rows = Array.from({ length: 20 }, (_, shop) => ({ shop, lang: 'bulk' }))
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, caller) =>
        enqueue(caller % 2 === 0 ? rows : rows.toReversed(), 'postpone', `${caller} s`),
      ),
    )
    expect(answers.flat().filter(({ outcome }) => outcome === 'enqueued')).toHaveLength(20)
  })
})

describe('a task that meets its like', () => {
  const at = (id: string | undefined) =>
    scalarOf<number>(
      database.pool,
      'select extract(epoch from planned_to - now())::float8 from tasks.mail where id = $1',
      [id],
    )
  const reason = (id: string | undefined) =>
    scalarOf(database.pool, 'select reason from tasks.mail where id = $1', [id])

  it('leaves it, gives it its columns, moves it later or earlier, and says which', async () => {
    const [one] = await enqueue([{ shop: 2, lang: 'de', reason: 'a' }], 'ignore', '1 hour')
    const again = (mode: string, delay: string | null) => enqueue([{ shop: 2, lang: 'de', reason: mode }], mode, delay)
    expect(await again('ignore', null)).toEqual([{ id: one?.id, outcome: 'ignored' }])
    expect(await reason(one?.id)).toBe('a')
    expect(await again('replace', null)).toEqual([{ id: one?.id, outcome: 'replaced' }])
    expect(await reason(one?.id)).toBe('replace')
    expect(await at(one?.id)).toBeGreaterThan(3000)
    expect(await again('postpone', '2 hours')).toEqual([{ id: one?.id, outcome: 'postponed' }])
    expect(await at(one?.id)).toBeGreaterThan(7000)
    await again('postpone', '10 minutes')
    expect(await at(one?.id)).toBeGreaterThan(7000)
    expect(await again('advance', '30 minutes')).toEqual([{ id: one?.id, outcome: 'advanced' }])
    expect(await at(one?.id)).toBeLessThan(1801)
    await again('advance', '1 hour')
    expect(await at(one?.id)).toBeLessThan(1801)
    expect(await reason(one?.id)).toBe('replace')
  })

  it('also in the same call; the answers come by place', async () => {
    const answers = await enqueue(
      [
        { shop: 9, lang: 'b' },
        { shop: 9, lang: 'a' },
        { shop: 9, lang: 'b' },
      ],
      'ignore',
    )
    expect(answers.map(({ outcome }) => outcome)).toEqual(['enqueued', 'enqueued', 'ignored'])
    expect(answers[2]?.id).toBe(answers[0]?.id)
  })

  it('is never alike where a column is NULL', async () => {
    const answers = await enqueue([{ shop: 3 }, { shop: 3 }], 'ignore')
    expect(answers.map(({ outcome }) => outcome)).toEqual(['enqueued', 'enqueued'])
  })
})

it.each([
  ["enqueue('tasks.mail', '{}')", /p_rows/],
  ["enqueue('tasks.mail', '[1]')", /p_rows/],
  ["enqueue('tasks.mail', null)", /p_rows/],
  ["enqueue(null, '[]')", /p_table/],
  ["enqueue('tasks.mail', '[]', 'sometimes')", /p_on_conflict/],
  ["enqueue('tasks.mail', '[]', 'ignore', '-1 s')", /p_delay/],
  ["enqueue('tasks.mail', '[]', null, '1001 years')", /p_delay/],
  ["enqueue('tasks.plain', '[]', 'ignore')", /p_on_conflict.*plain/],
  ["unique_while('tasks', 'mail', '{}')", /columns/],
  ["unique_while('tasks', 'mail', '{nothing}')", /columns.*nothing/],
  ["unique_while('tasks', 'mail', '{shop,shop}')", /columns/],
  ["unique_while('tasks', 'mail', '{started_at}')", /started_at/],
  ["unique_while('tasks', 'mail', '{shop}', '{ready}')", /states/],
  ["unique_while('tasks', 'mail', '{shop}', null)", /states/],
])('refuses %s', async (call, message) => {
  const refusal = await refusalOf(database.pool.query(`select tasks.${call}`))
  expect(refusal.code).toBe('TQ003')
  expect(refusal.message).toMatch(message)
})

it('refuses rows that are alike already and names them, and can be changed, taken back and repeated', async () => {
  await createTaskType(database.pool, 'later', { columns: '"Shop ""1""" integer' })
  await database.pool.query('insert into tasks.later ("Shop ""1""") values (1), (1)')
  const columns = `array['Shop "1"']`
  const refusal = await refusalOf(database.pool.query(`select tasks.unique_while('tasks', 'later', ${columns})`))
  expect(refusal.code).toBe('TQ005')
  await database.pool.query('delete from tasks.later where id = (select max(id) from tasks.later)')
  const indexes = () =>
    scalarOf(
      database.pool,
      "select count(*)::int from pg_indexes where tablename = 'later' and indexdef like 'CREATE UNIQUE%Shop%'",
    )
  for (const states of ['{scheduled,ready}', '{scheduled,ready}', '{scheduled,ready,running}']) {
    await database.pool.query(`select tasks.unique_while('tasks', 'later', ${columns}, '${states}')`)
    expect(await indexes()).toBe(1)
  }
  await database.pool.query("select tasks.unregister('tasks', 'later')")
  expect(await indexes()).toBe(0)
  await database.pool.query("select tasks.register('tasks', 'later')")
  await database.pool.query(`select tasks.unique_while('tasks', 'later', ${columns})`)
  await database.pool.query(
    "select tasks.unique_while('tasks', 'later', null), tasks.unique_while('tasks', 'later', null)",
  )
  expect(await indexes()).toBe(0)
  await database.pool.query('insert into tasks.later ("Shop ""1""") values (1)')
})
