import { describe, expect, it } from 'vitest'
import { quoteIdentifier } from '../../support/names.js'
import { createDatabase } from '../../support/test-database.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

// O-31, O-32, O-33: any name that PostgreSQL takes for a schema or a table.
const database = await createDatabase()
const session = await database.client()

const like = 'like tasks.template including defaults including identity including indexes'

async function createIn(schema: string, table: string): Promise<void> {
  await session.query(`create schema if not exists ${quoteIdentifier(schema)}`)
  await session.query(`create table ${quoteIdentifier(schema)}.${quoteIdentifier(table)} (${like}, payload text)`)
}

const trickyNames = [
  'SendMail',
  'send-mail',
  "it's",
  'two words',
  'dot.ted',
  'quo"ted',
  'üñïçødé',
  '发送邮件',
  '✉️',
  'select',
  'table',
  'user',
  'order',
  '1st',
  '_',
  '$1',
  '%s %1$s %%',
  'back\\slash',
  'tab\there',
  'new\nline',
  '$verb$',
  '$$; drop table tasks.types; --',
  "$body$ ' $head$",
  'a USING b',
  'nothing',
]

describe.each<readonly [string, string]>([
  ...trickyNames.map((name) => ['tasks', name] as const),
  ['App', 'Mail'],
  ['my-schema', 'mail'],
  ['a.b', 'c.d'],
  ['select', 'from'],
  ["o'clock", "o'clock"],
  ['%I', '%L'],
  ['$verb$', '$verb$'],
])('the table %j.%j', (schema, table) => {
  const type = `${schema}_${table}`
  const verb = (name: string) => `tasks.${quoteIdentifier(`${name}_${type}`)}`
  const relation = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`

  it('goes through every verb, under its own name', async () => {
    await createIn(schema, table)
    await session.query('select tasks.register($1, $2)', [schema, table])
    await session.query('select tasks.register($1, $2)', [schema, table])
    expect(
      await rowsOf(
        session,
        'select schema_name, table_name, function_name from tasks.types where table_id = $1::regclass',
        [relation],
      ),
    ).toEqual([{ schema_name: schema, table_name: table, function_name: type }])
    await session.query(
      `insert into ${relation} (payload, planned_to) select g::text, '2020-01-01' from generate_series(1, 7) g`,
    )
    const worker = await scalarOf(session, 'select gen_random_uuid()')
    const runs = await rowsOf(session, `select id, payload, run_token as token from ${verb('acquire')}(7, $1)`, [
      worker,
    ])
    expect(runs.map((run) => run.payload)).toEqual(['1', '2', '3', '4', '5', '6', '7'])
    const of = (index: number) => [runs[index]?.id, runs[index]?.token]
    expect(
      await rowsOf(session, `select gone_ids from ${verb('heartbeat')}($1, array[$2]::bigint[], array[$3]::uuid[])`, [
        worker,
        ...of(0),
      ]),
    ).toEqual([{ gone_ids: null }])
    expect(await scalarOf(session, `select ${verb('finish')}($1, run_token => $2)`, of(0))).toBe('finished')
    expect(
      await rowsOf(session, `select * from ${verb('finish_many')}(array[$1]::bigint[], array[$2]::uuid[])`, of(1)),
    ).toEqual([])
    expect(await scalarOf(session, `select ${verb('retry')}($1, run_token => $2)`, of(2))).toBe('scheduled')
    expect(await scalarOf(session, `select ${verb('release')}($1, $2)`, of(3))).toBe(true)
    expect(await scalarOf(session, `select ${verb('cancel')}($1, run_token => $2)`, of(4))).toBe('running')
    expect(await scalarOf(session, `select ${verb('reset')}($1)`, of(5).slice(0, 1))).toBe('running')
    expect(await scalarOf(session, `select ${verb('rescue')}()`)).toBe('0')
    expect(await scalarOf(session, `select ready_in from ${verb('next_due')}()`)).toBe(0)
    expect(await scalarOf(session, `select ${verb('clean')}('0', '{finished,canceled}')`)).toBe('3')
    expect(await scalarOf(session, `select ${verb('clean_before')}('infinity')`)).toBe('0')
    expect(await scalarOf(session, `select total from tasks.${quoteIdentifier(`stats_of_${type}`)}`)).toBe('4')
    const refused = await refusalOf(session.query(`select ${verb('finish')}(999999)`))
    expect(refused).toMatchObject({
      code: 'TQ002',
      message: `finish: there is no task 999999 in ${await scalarOf(session, 'select tasks.quoted($1::regclass)', [relation])}`,
    })
    await session.query('select tasks.configure($1, $2, $3, $4)', [schema, table, 'max_retries', '3'])
    expect(await scalarOf(session, 'select max_retries from tasks.describe($1, $2)', [schema, table])).toBe(3)
    await session.query('select tasks.unregister($1, $2)', [schema, table])
    expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
    expect(
      await scalarOf(
        session,
        "select count(*) from pg_proc where pronamespace = 'tasks'::regnamespace and right(proname, length($1)) = $1",
        [`_${type}`],
      ),
    ).toBe('0')
  })

  it('is announced without quotes, by one spelling (O-14)', async () => {
    await session.query('select tasks.register($1, $2)', [schema, table])
    const listener = await database.client()
    const heard: string[] = []
    listener.on('notification', (notification) => heard.push(notification.payload ?? ''))
    await listener.query('listen pg_tasks')
    await session.query(`insert into ${relation} default values`)
    await session.query(`update ${relation} set planned_to = now()`)
    await session.query(`select ${verb('reset')}(id) from ${relation}`)
    await listener.query('select')
    expect(new Set(heard)).toEqual(new Set([`${schema}.${table}`]))
    await listener.end()
    await session.query('select tasks.unregister($1, $2)', [schema, table])
  })
})

describe('a name that is too long for functions', () => {
  const longest = 'x'.repeat(63 - 'clean_before_tasks_'.length)

  it('is refused from the first byte too many, with the way out', async () => {
    await createIn('tasks', longest)
    await session.query('select tasks.register($1, $2)', ['tasks', longest])
    expect(
      await scalarOf(
        session,
        `select count(*) from pg_proc where length(proname) = 63 and proname = 'clean_before_tasks_${longest}'`,
      ),
    ).toBe('1')
    await session.query(`alter table tasks.${longest} rename to ${longest}x`)
    const error = await refusalOf(session.query('select tasks.register($1, $2)', ['tasks', `${longest}x`]))
    expect(error).toMatchObject({
      code: 'TQ007',
      message: `register: the name clean_before_tasks_${longest}x would be longer than 63 bytes`,
    })
    expect(error.hint).toContain('function_name =>')
    await session.query("select tasks.register($1, $2, function_name => 'short')", ['tasks', `${longest}x`])
    await session.query(`insert into tasks.${longest}x (payload) values ('a')`)
    expect(await rowsOf(session, 'select payload from tasks.acquire_short(1)')).toEqual([{ payload: 'a' }])
  })

  it('is measured in bytes', async () => {
    await createIn('tasks', 'ü'.repeat(30))
    expect((await refusalOf(session.query('select tasks.register($1, $2)', ['tasks', 'ü'.repeat(30)]))).code).toBe(
      'TQ007',
    )
  })

  it('of 63 bytes, the longest there are, works with a function name', async () => {
    const [schema, table] = ['s'.repeat(63), 't'.repeat(63)]
    await createIn(schema, table)
    await session.query("select tasks.register($1, $2, function_name => 'longest')", [schema, table])
    await session.query(`insert into ${schema}.${table} (payload) values ('a')`)
    expect(await rowsOf(session, 'select payload from tasks.acquire_longest(1)')).toEqual([{ payload: 'a' }])
    // Both are cut alike by PostgreSQL.
    await session.query("select tasks.register($1, $2, function_name => 'longest')", [schema, `${table}tt`])
    expect(
      await rowsOf(session, "select schema_name, table_name from tasks.types where function_name = 'longest'"),
    ).toEqual([{ schema_name: schema, table_name: table }])
  })
})

describe('two types whose functions would have the same names', () => {
  it.each([
    [
      ['a_b', 'c'],
      ['a', 'b_c'],
    ],
    [
      ['clean', 'x'],
      ['clean', 'X'],
    ],
  ])('%j and %j', async (one, other) => {
    await createIn(...(one as [string, string]))
    await createIn(...(other as [string, string]))
    await session.query('select tasks.register($1, $2)', one)
    const registering = session.query('select tasks.register($1, $2)', other)
    if (one.join('_') !== other.join('_')) {
      await registering
      return
    }
    const error = await refusalOf(registering)
    expect(error).toMatchObject({
      code: 'TQ007',
      message: `register: the function rescue_${one.join('_')} belongs to the task type ${one.join('.')}`,
    })
    expect(error.hint).toContain('function_name =>')
    await session.query("select tasks.register($1, $2, function_name => 'abc_2')", other)
    await session.query(
      `insert into ${other.join('.')} (payload) values ('second'); insert into ${one.join('.')} (payload) values ('first')`,
    )
    expect(await rowsOf(session, `select payload from tasks.acquire_${one.join('_')}(9)`)).toEqual([
      { payload: 'first' },
    ])
    expect(await rowsOf(session, 'select payload from tasks.acquire_abc_2(9)')).toEqual([{ payload: 'second' }])
  })

  // finish_many_x is a verb of x and would be the finish of many_x.
  it.each([
    ['x', 'many_x', 'finish_many_x'],
    ['before_y', 'y', 'clean_before_y'],
  ])('%s and %s, because of %s', async (one, other, shared) => {
    await createIn('tasks', `t_${one}`)
    await createIn('tasks', `t_${other}`)
    await session.query('select tasks.register($1, $2, function_name => $3)', ['tasks', `t_${one}`, one])
    const error = await refusalOf(
      session.query('select tasks.register($1, $2, function_name => $3)', ['tasks', `t_${other}`, other]),
    )
    expect(error).toMatchObject({
      code: 'TQ007',
      message: `register: the function ${shared} belongs to the task type tasks.t_${one}`,
    })
  })

  // tasks.reset_failed is not the reset of a type.
  it('failed, because of reset_failed', async () => {
    await createIn('tasks', 't_failed')
    const error = await refusalOf(
      session.query("select tasks.register('tasks', 't_failed', function_name => 'failed')"),
    )
    expect(error).toMatchObject({
      code: 'TQ007',
      message: 'register: the function reset_failed is one of the schema tasks itself',
    })
    expect(error.hint).toContain('function_name =>')
    expect(await scalarOf(session, "select count(*) from pg_proc where proname like '%\\_failed'")).toBe('1')
  })

  it('change to and from such a name without losing one of them', async () => {
    await createIn('tasks', 'hop')
    for (const name of ['hop', 'many_hop', 'before_hop', 'hop']) {
      await session.query("select tasks.register('tasks', 'hop', function_name => $1)", [name])
      expect(
        await scalarOf(
          session,
          "select count(*) from tasks.verbs() v where to_regproc(format('tasks.%I', v.verb || '_' || $1)) is null",
          [name],
        ),
      ).toBe('0')
    }
    expect(
      await scalarOf(
        session,
        "select count(*) from pg_proc where pronamespace = 'tasks'::regnamespace and proname like '%hop'",
      ),
    ).toBe(await scalarOf(session, 'select count(*) from tasks.verbs()'))
  })
})

it('refuses the name of a view that a table of the user`s has', async () => {
  await createIn('tasks', 'viewed')
  await session.query('create table tasks.stats_of_tasks_viewed (id bigint)')
  expect(await refusalOf(session.query("select tasks.register('tasks', 'viewed')"))).toMatchObject({
    code: 'TQ007',
    message: 'register: the name stats_of_tasks_viewed of the type`s view is taken'.replace('`', "'"),
  })
})
