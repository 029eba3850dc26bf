import { Task } from '@pg-tasks/client'
import type { Pool } from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'

type Values = Record<string, unknown>

class Anything extends Task<Values> {
  override async run(): Promise<void> {}
}

const task = new Anything({ table: 'anything' })
let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await database.pool.query(`
    create type mood as enum ('sad', 'it''s "ok"', 'happy');
    create type point3 as (x int, y numeric, label text);
    create domain positive as int check (value > 0);
    create domain words as text[];`)
  await createTaskType(database.pool, 'anything', {
    columns: `
      j json, jb jsonb default '{"by": "default"}', ints int[], texts text[], grid int[][], b bytea, d date, ts timestamp, tz timestamptz,
      n numeric, f double precision, r real, i int default 7, big bigint, s smallint, bool boolean, t text default 'default', c char(5),
      m mood, moods mood[], p point3, points point3[], span int4range, spans int4multirange, iv interval, u uuid, ip inet, dom positive,
      ws words, x xml, tm time, bits bit(3), tzs timestamptz[], bs bytea[], fs double precision[], jbs jsonb[], "Odd ""Name"" é" text`,
  })
})

beforeEach(() => database.pool.query('truncate tasks.anything'))

/** The ways in which values travel: alone on a new connection, alone on one that is known, several, beside what needs JSON. */
const ROUTES: ReadonlyArray<readonly [string, (pool: Pool, row: Values) => Promise<string | undefined>]> = [
  ['one', (pool, row) => task.enqueue({ query: (text, values) => pool.query(text, values && [...values]) }, row)],
  [
    'one more',
    async (pool, row) => {
      await task.enqueue(pool, { i: 1 })
      await task.enqueue(pool, { i: 1 })
      return task.enqueue(pool, row)
    },
  ],
  ['many', async (pool, row) => (await task.enqueueMany(pool, [row, row, row]))[1]],
  [
    'beside an array',
    async (pool, row) =>
      (
        await task.enqueueMany(pool, [
          { grid: [[1]], ...row },
          { grid: [[2]], ...row },
        ])
      )[1],
  ],
  [
    'one beside a column with an odd name',
    async (pool, row) => task.enqueue(pool, { ...row, 'Odd "Name" é': 'ö "\\ \'' }),
  ],
]

const CASES: ReadonlyArray<readonly [column: string, value: unknown, sql: string]> = [
  // B-29
  ['j', [1, 2], `'[1,2]'`],
  ['jb', [1, 2], `'[1, 2]'`],
  ['jb', 'text', `'"text"'`],
  ['jb', 'it\'s "quoted" \\ {}', `to_jsonb('it''s "quoted" \\ {}'::text)`],
  ['jb', { a: undefined, b: null, c: [new Date(0)] }, `'{"b": null, "c": ["1970-01-01T00:00:00.000Z"]}'`],
  ['jb', 0, `'0'`],
  ['jb', false, `'false'`],
  ['jb', null, 'null'],
  ['jb', undefined, `'{"by": "default"}'`],
  ['jb', { big: 12345678901234567890n }, `'{"big": "12345678901234567890"}'`],
  ['j', '', `'""'`],
  ['ints', [1, null, -3], `'{1,NULL,-3}'`],
  ['ints', [], `'{}'`],
  ['ints', '{4,5}', `'{4,5}'`],
  [
    'texts',
    ['a,b', '"', '\\', '', null, 'NULL', '{}', 'ä\n'],
    `array['a,b', '"', E'\\\\', '', null, 'NULL', '{}', E'ä\\n']`,
  ],
  [
    'grid',
    [
      [1, 2],
      [3, 4],
    ],
    `'{{1,2},{3,4}}'`,
  ],
  ['moods', ['sad', 'it\'s "ok"'], `array['sad', 'it''s "ok"']::mood[]`],
  ['ws', ['a', 'b'], `'{a,b}'`],
  ['tzs', [new Date(0), new Date(1)], `'{1970-01-01 00:00:00Z,1970-01-01 00:00:00.001Z}'`],
  ['bs', [Buffer.from([0, 255, 92]), null, new Uint8Array([1])], `array['\\x00ff5c', null, '\\x01']::bytea[]`],
  ['fs', [Number.NaN, 1.5, Number.NEGATIVE_INFINITY], `'{NaN,1.5,-Infinity}'`],
  ['jbs', [{ at: new Date(0) }, [1], null], `array['{"at": "1970-01-01T00:00:00.000Z"}', '[1]', null]::jsonb[]`],
  ['jb', [new Date(0), { at: new Date(0) }], `'["1970-01-01T00:00:00.000Z", {"at": "1970-01-01T00:00:00.000Z"}]'`],
  ['p', { x: 1, y: Number.NaN, label: 'a' }, `row(1, 'NaN', 'a')::point3`],
  ['b', Buffer.from([0, 255, 92]), `'\\x00ff5c'`],
  ['b', new Uint8Array([1, 2, 3, 4]).subarray(1, 3), `'\\x0203'`],
  ['b', new Uint8Array(0), `''`],
  ['d', '2024-03-10', `'2024-03-10'`],
  ['d', '0044-03-15 BC', `'0044-03-15 BC'`],
  ['d', Number.POSITIVE_INFINITY, `'infinity'`],
  ['tz', new Date('2024-02-29T12:34:56.789Z'), `'2024-02-29 12:34:56.789+00'`],
  ['tz', new Date('0000-01-01T00:00:00Z'), `'0001-01-01 00:00:00+00 BC'`],
  ['tz', new Date('+012345-01-01T00:00:00Z'), `'12345-01-01 00:00:00+00'`],
  ['tz', new Date('1850-06-01T00:00:00Z'), `'1850-06-01 00:00:00+00'`],
  ['tz', '2024-03-31 02:30:00 Europe/Berlin', `'2024-03-31 02:30:00 Europe/Berlin'`],
  ['tz', Number.NEGATIVE_INFINITY, `'-infinity'`],
  ['n', '12345678901234567890.123456789', '12345678901234567890.123456789'],
  ['n', 12345678901234567890n, '12345678901234567890'],
  ['n', 0.1, '0.1'],
  ['n', Number.NaN, `'NaN'`],
  ['n', 1e21, '1000000000000000000000'],
  ['n', 5e-324, `5e-324`],
  ['f', Number.NaN, `'NaN'`],
  ['f', Number.NEGATIVE_INFINITY, `'-Infinity'`],
  ['f', 0.1 + 0.2, '0.30000000000000004'],
  ['r', 1.5, '1.5'],
  ['i', undefined, '7'],
  ['i', null, 'null'],
  ['big', 9223372036854775807n, '9223372036854775807'],
  ['big', '9223372036854775807', '9223372036854775807'],
  ['big', 42, '42'],
  ['s', -5, '-5'],
  ['bool', true, 'true'],
  ['bool', 'f', 'false'],
  ['t', '', `''`],
  ['t', 'NULL', `'NULL'`],
  ['t', `'; drop table tasks.anything; --`, `'''; drop table tasks.anything; --'`],
  ['t', '\u{1F600} \u2028 \t \\N', `E'\\U0001F600 \\u2028 \\t \\\\N'`],
  ['t', 5, `'5'`],
  ['t', { a: 1 }, `'{"a":1}'`],
  ['t', null, 'null'],
  ['t', undefined, `'default'`],
  ['c', 'ab', `'ab'`],
  ['m', 'it\'s "ok"', `'it''s "ok"'`],
  ['p', { x: 1, y: '2.5', label: 'a "b", (c)' }, `row(1, 2.5, 'a "b", (c)')::point3`],
  ['p', '(1,2.5,)', `row(1, 2.5, null)::point3`],
  [
    'points',
    [
      { x: 1, y: 2, label: null },
      { x: 3, y: 4, label: '' },
    ],
    `array[row(1, 2, null), row(3, 4, '')]::point3[]`,
  ],
  ['span', '[1,5)', `'[1,5)'`],
  ['span', 'empty', `'empty'`],
  ['spans', '{[1,3),[5,7)}', `'{[1,3),[5,7)}'`],
  ['iv', '1 mon 2 days 03:04:05', `'1 mon 2 days 03:04:05'`],
  ['u', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', `'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'`],
  ['ip', '10.0.0.1/8', `'10.0.0.1/8'`],
  ['dom', 3, '3'],
  ['tm', '23:59:59.999999', `'23:59:59.999999'`],
  ['bits', '101', `'101'`],
  ['x', '<a>&amp;</a>', `'<a>&amp;</a>'`],
]

// B-28, B-29: whatever the route, a value means the same, and means what PostgreSQL's own literal means.
describe.each(ROUTES)('values that are enqueued as %s', (_route, enqueue) => {
  it.each(CASES.map((entry, index) => [`${entry[0]} ${String(index)}`, ...entry] as const))(
    'arrive as they are: %s',
    async (_title, column, value, sql) => {
      const id = await enqueue(database.pool, { [column]: value })
      const { rows } = await database.pool.query(
        `select t.${column}::text as found, ((${sql})${castOf(column)})::text as wanted from tasks.anything t where t.id = $1`,
        [id],
      )
      expect(rows).toEqual([{ found: rows[0]?.wanted, wanted: rows[0]?.wanted }])
    },
  )
})

const TYPES: Record<string, string> = {
  j: 'json',
  jb: 'jsonb',
  ints: 'int[]',
  texts: 'text[]',
  grid: 'int[]',
  b: 'bytea',
  d: 'date',
  tz: 'timestamptz',
  n: 'numeric',
  f: 'float8',
  r: 'real',
  i: 'int',
  big: 'bigint',
  s: 'smallint',
  bool: 'boolean',
  t: 'text',
  c: 'char(5)',
  m: 'mood',
  moods: 'mood[]',
  p: 'point3',
  points: 'point3[]',
  span: 'int4range',
  spans: 'int4multirange',
  iv: 'interval',
  u: 'uuid',
  ip: 'inet',
  dom: 'int',
  ws: 'text[]',
  x: 'xml',
  tm: 'time',
  bits: 'bit(3)',
  tzs: 'timestamptz[]',
  bs: 'bytea[]',
  fs: 'float8[]',
  jbs: 'jsonb[]',
}

function castOf(column: string): string {
  return `::${TYPES[column] as string}`
}

describe('rows with different columns', () => {
  it('keep their order: the ids come back in that of the rows', async () => {
    const rows = Array.from({ length: 60 }, (_, index) =>
      index % 3 === 0
        ? { i: index }
        : index % 3 === 1
          ? { t: `row ${index}`, i: index }
          : { i: index, ints: [index], t: undefined },
    )
    const ids = await task.enqueueMany(database.pool, rows)
    const { rows: found } = await database.pool.query('select id, i from tasks.anything order by id')
    expect(found.map((row) => row.id)).toEqual(ids)
    expect(found.map((row) => row.i)).toEqual(rows.map((row) => row.i))
  })

  it('with the same columns in another order are one statement', async () => {
    const texts: string[] = []
    const watched = {
      query: (text: string, values?: readonly unknown[]) => {
        texts.push(text)
        return database.pool.query(text, values && [...values])
      },
    }
    await task.enqueueMany(watched, [
      { i: 1, t: 'a' },
      { t: 'b', i: 2 },
      { i: 3, t: 'c' },
    ])
    expect(texts.filter((text) => text.includes('insert'))).toHaveLength(1)
  })

  it('may be none, many, and without a column of their own', async () => {
    expect(await task.enqueueMany(database.pool, [])).toEqual([])
    expect(await task.enqueueMany(database.pool, [{}, {}, {}])).toHaveLength(3)
    expect(
      await task.enqueueMany(
        database.pool,
        Array.from({ length: 20_000 }, (_, i) => ({ i, t: `row ${i}` })),
      ),
    ).toHaveLength(20_000)
  })
})

describe('what is no task', () => {
  const notTasks: ReadonlyArray<readonly [string, unknown, RegExp]> = [
    ['nothing', undefined, /"task" must be an object of columns, not undefined/],
    ['null', null, /"task" must be an object of columns, not null/],
    ['a text', 'i=1', /"task" must be an object of columns, not a string/],
    ['several', [{ i: 1 }], /"task" must be an object of columns, not an array/],
    ['a promise', Promise.resolve({ i: 1 }), /"task" must be an object of columns, not a promise: is an await missing/],
  ]
  it.each(notTasks)('is refused: %s', async (_name, given, message) => {
    const refused = { code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) }
    await expect(task.enqueue(database.pool, given as Values)).rejects.toMatchObject(refused)
    await expect(task.enqueueMany(database.pool, [{}, given as Values])).rejects.toMatchObject(refused)
    const { rows } = await database.pool.query('select from tasks.anything')
    expect(rows).toEqual([])
  })

  it('is refused where several are expected', async () => {
    await expect(task.enqueueMany(database.pool, { i: 1 } as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/"tasks" must be an array of tasks, not an object/),
    })
  })
})

describe('when a new task is due', () => {
  it('is now, in so many milliseconds by the clock of the database, or when it says', async () => {
    const [now, later, planned] = [
      await task.enqueue(database.pool, {}),
      await task.enqueue(database.pool, { i: 1 }, { delayMs: 90_061_001.5 }),
      await task.enqueue(database.pool, { planned_to: new Date('2030-01-01T00:00:00Z'), priority: 0 }),
    ]
    const [many] = await task.enqueueMany(database.pool, [{ i: 1 }, { i: 2 }], { delayMs: 60_000 })
    const { rows } = await database.pool.query(
      `select id, priority, extract(epoch from planned_to - created_at)::float8 as seconds from tasks.anything where id = any ($1) order by id`,
      [[now, later, planned, many]],
    )
    expect(rows[0].seconds).toBeLessThan(5)
    expect(Math.abs(rows[1].seconds - 90_061.001)).toBeLessThan(5)
    expect(rows[2].priority).toBe(0)
    expect(Math.abs(rows[3].seconds - 60)).toBeLessThan(5)
  })

  it('is refused where a row and an option both say it', async () => {
    await expect(task.enqueue(database.pool, { planned_to: new Date() }, { delayMs: 5 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/delayMs.*planned_to/),
    })
  })
})

describe('a row that the table refuses', () => {
  it.each<[string, Values, RegExp]>([
    ['an unknown column', { nonsense: 1 }, /nonsense/],
    ['a text for a number', { i: 'many' }, /integer/],
    ['a number out of range', { s: 70_000 }, /smallint|range/],
    ['a value that a domain forbids', { dom: -1 }, /positive/],
    ['an unknown label', { m: 'angry' }, /mood/],
    ['an invalid Date', { tz: new Date(Number.NaN) }, /"tz".*invalid Date/],
    ['a value that is not there yet', { t: Promise.resolve('a') }, /"t".*promise: is an await missing/],
    ['a JSON value that is not there yet', { jb: Promise.resolve({}) }, /"jb".*promise: is an await missing/],
    ['a function', { t: () => 'a' }, /"t".*function: should it be called/],
    ['a symbol', { i: Symbol('a') }, /"i".*symbol/],
    ['a text with NUL', { t: 'a\u0000b' }, /Unicode|encoding|0x00/],
    ['a priority beyond its range', { priority: 9 }, /priority/],
  ])('raises an error that says so: %s', async (_name, row, message) => {
    for (const [, enqueue] of ROUTES) await expect(enqueue(database.pool, row)).rejects.toThrow(message)
    expect((await database.pool.query('select from tasks.anything where i is distinct from 1')).rows).toEqual([])
  })
})
