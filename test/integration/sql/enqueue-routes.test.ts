import { enqueueMany, toQueryable } from '@pg-tasks/sql'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'

const database = await createDatabase()
const type = { schema: 'tasks', table: 'parcel', functionName: 'tasks_parcel' }

const COLUMNS = `
  label text, code varchar(20), weight numeric(10, 2), ratio double precision, pieces bigint, fragile boolean,
  data jsonb, raw json, day date, at timestamptz, blob bytea, tags text[], size int4range, email email_address, kind parcel_kind,
  place address`

/** Values by column, and what the database makes of some of them; every route must make the same. */
const VALUES: ReadonlyArray<
  readonly [title: string, row: Record<string, unknown>, expected: Record<string, string | null>]
> = [
  ['text', { label: 'a parcel', code: 'x-1' }, { label: 'a parcel', code: 'x-1' }],
  ['text that looks like something else', { label: 'NULL', code: '{1,2}' }, { label: 'NULL', code: '{1,2}' }],
  [
    'text with quotes, backslashes, commas, braces and line breaks',
    { label: '"a" \\ \'b\', {c}\n\t\\"', code: '\\' },
    { label: '"a" \\ \'b\', {c}\n\t\\"', code: '\\' },
  ],
  ['empty text', { label: '', code: '' }, { label: '', code: '' }],
  ['null', { label: null, data: null, tags: null, weight: null, at: null }, { label: null, data: null }],
  [
    'numbers',
    { weight: 12.345, ratio: 1e-7, pieces: 42, label: 5 },
    { weight: '12.35', ratio: '1e-07', pieces: '42', label: '5' },
  ],
  [
    'numbers without end',
    { ratio: Number.POSITIVE_INFINITY, weight: Number.NaN },
    { ratio: 'Infinity', weight: 'NaN' },
  ],
  ['bigints', { pieces: 9007199254740993n, label: 12n }, { pieces: '9007199254740993', label: '12' }],
  ['booleans', { fragile: true, label: false }, { fragile: 'true', label: 'false' }],
  [
    'instants',
    { at: new Date('2026-03-29T01:30:00.123Z'), day: new Date(2026, 0, 2), label: new Date(0) },
    { day: '2026-01-02' },
  ],
  ['bytes', { blob: Buffer.from([0, 1, 255]) }, { blob: '\\x0001ff' }],
  [
    'an object in a json column',
    { data: { a: [1, { b: 'c' }], n: 12n }, raw: { z: 1, a: null } },
    { data: '{"a": [1, {"b": "c"}], "n": "12"}', raw: '{"z":1,"a":null}' },
  ],
  ['an array in a json column', { data: ['a', 1, null], raw: [] }, { data: '["a", 1, null]', raw: '[]' }],
  ['text in a json column', { data: 'text', raw: '5' }, { data: '"text"', raw: '"5"' }],
  ['a number and a boolean in a json column', { data: 5, raw: true }, { data: '5', raw: 'true' }],
  [
    'an instant inside a json column',
    { data: { at: new Date('2026-01-01T00:00:00Z') } },
    { data: '{"at": "2026-01-01T00:00:00.000Z"}' },
  ],
  ['an array in an array column', { tags: ['a', 'b,"c"', ''] }, { tags: '{a,"b,\\"c\\"",""}' }],
  [
    'a range, a domain and an enum',
    { size: '[1,5)', email: 'a@example.com', kind: 'letter' },
    { size: '[1,5)', email: 'a@example.com', kind: 'letter' },
  ],
  ['an object in a column of a row type', { place: { street: 'Long', number: 3 } }, { place: '(Long,3)' }],
]

beforeAll(async () => {
  await database.pool.query(`create domain email_address as text check (value like '%@%')`)
  await database.pool.query(`create type parcel_kind as enum ('letter', 'box')`)
  await database.pool.query(`create type address as (street text, number integer)`)
  await createTaskType(database.pool, 'parcel', { columns: COLUMNS })
})

/** The user's columns of tasks as PostgreSQL prints them, in the order of the ids. */
async function textsOf(ids: readonly (string | undefined)[]): Promise<Array<Record<string, string | null>>> {
  const own = COLUMNS.split(/,(?![^(]*\))/).map((column) => column.trim().split(' ')[0])
  const { rows } = await database.pool.query(
    `select ${own.map((name) => `"${name}"::text`).join(', ')}
     from unnest($1::bigint[]) with ordinality as u (id, place_of) join tasks.parcel t using (id) order by u.place_of`,
    [ids],
  )
  return rows
}

describe.each(VALUES)('enqueued with %s', (_title, row, expected) => {
  it('a task is the same alone for the first time, alone later, and among others', async () => {
    // What is learned is kept with a connection: this one is new.
    const queryable = toQueryable(await database.client())
    const first = await enqueueMany(queryable, type, [row])
    const later = await enqueueMany(queryable, type, [row])
    const together = await enqueueMany(queryable, type, [row, row])
    const texts = await textsOf([...first, ...later, ...together])
    expect(texts).toHaveLength(4)
    expect(texts[0]).toMatchObject(expected)
    for (const text of texts) expect(text).toEqual(texts[0])
  })
})

it('gives the ids in the order of the rows, also of 150,000', async () => {
  const queryable = toQueryable(database.pool)
  const ids = await enqueueMany(
    queryable,
    type,
    Array.from({ length: 150_000 }, (_, pieces) => ({ pieces })),
  )
  const texts = await textsOf([ids[0], ids[77_777], ids[149_999]])
  expect(texts.map(({ pieces }) => pieces)).toEqual(['0', '77777', '149999'])
})

it('inserts nothing for no rows, and rows of defaults', async () => {
  const queryable = toQueryable(database.pool)
  expect(await enqueueMany(queryable, type, [])).toEqual([])
  expect(await enqueueMany(queryable, type, [{}, {}], { delayMs: 60_000 })).toHaveLength(2)
})

it('plans by the delay by every route', async () => {
  const queryable = toQueryable(await database.client())
  const ids: string[] = []
  for (const rows of [[{ label: 'a' }], [{ label: 'a' }], [{ label: 'a' }, { label: 'b' }], [{}]]) {
    ids.push(...(await enqueueMany(queryable, type, rows, { delayMs: 3_600_000 })))
  }
  const { rows } = await database.pool.query(
    `select bool_and(planned_to between now() + interval '59 minutes' and now() + interval '61 minutes') as planned, count(*)::int
     from tasks.parcel where id = any ($1)`,
    [ids],
  )
  expect(rows).toEqual([{ planned: true, count: 5 }])
})

it('names a column that is not there', async () => {
  const queryable = toQueryable(await database.client())
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(enqueueMany(queryable, type, [{ colour: 'red' }])).rejects.toMatchObject({ code: '42703' })
  }
})

it('leaves out a column of a domain that refuses NULL by every route', async () => {
  await database.pool.query('create domain counted as integer not null')
  const columns = 'label text, tags text[], n counted default 7, twice counted generated always as (2) stored'
  await createTaskType(database.pool, 'counting', { columns })
  const counting = { schema: 'tasks', table: 'counting', functionName: 'tasks_counting' }
  const queryable = toQueryable(await database.client())
  const a = { label: 'a' }
  for (const rows of [[a], [a], [a, a], [{ ...a, tags: ['b'] }], [{}]]) await enqueueMany(queryable, counting, rows)
  const { rows } = await database.pool.query('select n, twice, count(*)::int from tasks.counting group by 1, 2')
  expect(rows).toEqual([{ n: 7, twice: 2, count: 6 }])
  await expect(enqueueMany(queryable, counting, [{ tags: ['b'], n: null }])).rejects.toMatchObject({ code: '23502' })
})
