import { afterEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { endOpenTransactions } from './end-open-transactions.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

// What a table must look like, what register adds to it, and what it refuses (B-32).
const database = await createDatabase()
const session = await database.client()
const notices: string[] = []
session.on('notice', (notice) => notices.push(notice.message ?? ''))

afterEach(async () => {
  await endOpenTransactions(session)
  await session.query('drop table if exists tasks.mail cascade')
  await session.query('drop view if exists tasks.mail_view')
  await session.query("select tasks.unregister('tasks', 'mail')")
  notices.length = 0
})

const create = (like: string, more = '') =>
  session.query(`create table tasks.mail (like tasks.template ${like}${more && `, ${more}`})`)
const register = (table = 'mail') => session.query("select tasks.register('tasks', $1)", [table])
/** Columns, constraints, indexes and options, without names of the table's own. */
const shapeOf = async (table: string) => ({
  columns: await rowsOf(
    session,
    `select attname, format_type(atttypid, atttypmod) as type, attnotnull, attidentity, pg_get_expr(adbin, adrelid) as standard
     from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attname`,
    [table],
  ),
  indexes: await rowsOf(
    session,
    'select tasks.index_shape(indexrelid) as shape from pg_index where indrelid = $1::regclass order by 1',
    [table],
  ),
  options: await scalarOf(session, 'select reloptions from pg_class where oid = $1::regclass', [table]),
  checks: await rowsOf(
    session,
    "select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = $1::regclass and contype = 'c'",
    [table],
  ),
  triggers: await rowsOf(session, 'select tgname, tgtype from pg_trigger where tgrelid = $1::regclass order by 1', [
    table,
  ]),
})

describe('a table that was made by LIKE', () => {
  it.each([
    '',
    'including defaults',
    'including identity',
    'including indexes',
    'including defaults including identity',
    'including all',
  ])('with (%s) is brought to the same shape, and can be enqueued and run', async (options) => {
    await session.query(
      'create table tasks.reference (like tasks.template including defaults including identity including indexes, payload text)',
    )
    await register('reference')
    await create(options, 'payload text')
    await register()
    expect(await shapeOf('tasks.mail')).toEqual(await shapeOf('tasks.reference'))
    await session.query("insert into tasks.mail (payload) values ('a')")
    expect(await rowsOf(session, 'select payload from tasks.acquire_tasks_mail(1)')).toEqual([{ payload: 'a' }])
    await session.query('drop table tasks.reference cascade')
  })

  it('gets every index once, however it and its indexes are called', async () => {
    await session.query(
      'create table tasks."a USING b" (like tasks.template including defaults including identity including indexes)',
    )
    await session.query('alter index tasks."a USING b_priority_planned_to_id_idx" rename to "my USING index (x)"')
    await register('a USING b')
    await register('a USING b')
    expect(
      await scalarOf(session, 'select count(*) from pg_index where indrelid = \'tasks."a USING b"\'::regclass'),
    ).toBe(await scalarOf(session, "select count(*) from pg_index where indrelid = 'tasks.template'::regclass"))
    await session.query('drop table tasks."a USING b" cascade')
  })

  it('keeps the storage parameters that it has, and gets the others', async () => {
    await create('including all')
    await session.query('alter table tasks.mail set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.5)')
    await register()
    const options = await scalarOf<string[]>(
      session,
      "select reloptions from pg_class where oid = 'tasks.mail'::regclass",
    )
    expect(options).toEqual(
      expect.arrayContaining([
        'fillfactor=90',
        'autovacuum_vacuum_scale_factor=0.5',
        'autovacuum_analyze_scale_factor=0.05',
      ]),
    )
  })

  it('gets an identity that starts behind the ids that are there', async () => {
    await create('including defaults')
    await session.query('insert into tasks.mail (id) values (41), (7), (-3)')
    await register()
    expect(await scalarOf(session, 'insert into tasks.mail default values returning id')).toBe('42')
  })

  it('gets an identity that starts at 1 when it is empty, or has negative ids only', async () => {
    for (const ids of ['', '(-5)']) {
      await create('including defaults')
      if (ids) await session.query(`insert into tasks.mail (id) values ${ids}`)
      await register()
      expect(await scalarOf(session, 'insert into tasks.mail default values returning id')).toBe('1')
      await session.query('drop table tasks.mail cascade')
    }
  })

  // O-37
  it.each(['created_at', 'planned_to', 'execution_count', 'canceled', 'priority'])(
    'is refused when a row has NULL in %s, with what to do',
    async (column) => {
      await create('')
      await session.query(`alter table tasks.mail alter ${column} drop not null`)
      await session.query(
        `insert into tasks.mail (id, created_at, planned_to, execution_count, canceled, priority, lost_count, held) values (1, now(), now(), 0, false, 1, 0, false)`,
      )
      await session.query(`update tasks.mail set ${column} = null`)
      const error = await refusalOf(register())
      expect(error).toMatchObject({
        code: 'TQ005',
        message: expect.stringContaining(`column "${column}" of relation "mail" contains null values`),
      })
      expect(error.hint).toContain('Mend the rows')
      expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
      expect(await scalarOf(session, "select count(*) from pg_trigger where tgrelid = 'tasks.mail'::regclass")).toBe(
        '0',
      )
    },
  )

  it.each([
    ['a priority that there is none of', 'insert into tasks.mail (priority) values (4)', 'pg_tasks_priority'],
    [
      'an id twice',
      'alter table tasks.mail drop constraint mail_pkey; insert into tasks.mail (id) values (1), (1)',
      'could not create unique index',
    ],
  ])('is refused when a row has %s', async (_, statements, detail) => {
    await create('including all')
    await session.query(statements)
    expect(await refusalOf(register())).toMatchObject({ code: 'TQ005', message: expect.stringContaining(detail) })
  })

  it('keeps its own primary key, and gets a unique id', async () => {
    await create('including defaults including identity', 'payload text primary key')
    await register()
    const error = await refusalOf(session.query("insert into tasks.mail (id, payload) values (1, 'a'), (1, 'b')"))
    expect(error.code).toBe('23505')
  })
})

describe('a table with other columns', () => {
  it('is refused with all that is wrong in one message, and nothing is changed', async () => {
    await create('including all')
    await session.query(`
      alter table tasks.mail drop column trace_id, drop column run_token, alter column priority type text, alter column finished_at type timestamp;
      drop index if exists tasks.mail_finished_at_idx`)
    const before = await shapeOf('tasks.mail')
    const error = await refusalOf(register())
    expect(error.code).toBe('TQ005')
    for (const problem of [
      'column trace_id (uuid) is missing',
      'column run_token (uuid) is missing',
      'column priority is text, the template has smallint',
      'column finished_at is timestamp without time zone, the template has timestamp with time zone',
    ]) {
      expect(error.message).toContain(problem)
    }
    expect(error.hint).toContain("tasks.upgrade('tasks.mail')")
    expect(await shapeOf('tasks.mail')).toEqual(before)
    expect(await rowsOf(session, 'select from tasks.types')).toEqual([])
  })

  it('may have integer ids, a text trace_id and varchar for text', async () => {
    await create('including all')
    await session.query(
      'alter table tasks.mail alter id type integer, alter trace_id type text using trace_id::text, alter comment type varchar(100), alter last_error type varchar',
    )
    await register()
    await session.query('insert into tasks.mail default values')
    expect(await rowsOf(session, 'select id from tasks.acquire_tasks_mail(1)')).toEqual([{ id: 1 }])
  })

  it('is refused when a column that the queue writes is generated', async () => {
    await session.query(`create table tasks.mail (like tasks.template including indexes including identity)`)
    await session.query(
      'alter table tasks.mail drop column comment, add column comment text generated always as (1::text) stored',
    )
    expect(await refusalOf(register())).toMatchObject({
      code: 'TQ005',
      message: expect.stringContaining('column comment is generated'),
    })
  })
})

describe('what is no plain table', () => {
  it.each([
    [
      'a view',
      'create view tasks.mail_view as select * from tasks.template',
      'tasks',
      'mail_view',
      'is not a plain table',
    ],
    [
      'a materialized view',
      'create materialized view tasks.mail_matview as select * from tasks.template',
      'tasks',
      'mail_matview',
      'is not a plain table',
    ],
    ['a sequence', 'create sequence tasks.mail_sequence', 'tasks', 'mail_sequence', 'is not a plain table'],
    [
      'a partitioned table',
      'create table tasks.parts (like tasks.template) partition by hash (id)',
      'tasks',
      'parts',
      'is partitioned',
    ],
    [
      'a partition',
      'create table tasks.part partition of tasks.parts for values with (modulus 2, remainder 0)',
      'tasks',
      'part',
      'is partitioned',
    ],
    [
      'a temporary table',
      'create temp table short (like tasks.template including all)',
      'pg_temp',
      'short',
      'is temporary',
    ],
    [
      'a table with children',
      'create table tasks.parent (like tasks.template including all); create table tasks.child () inherits (tasks.parent)',
      'tasks',
      'parent',
      "can't have children",
    ],
    ['the template', 'select', 'tasks', 'template', 'is the template'],
    [
      'a foreign table',
      'create extension if not exists postgres_fdw; create server far foreign data wrapper postgres_fdw; create foreign table tasks.far (id bigint) server far',
      'tasks',
      'far',
      'is not a plain table',
    ],
  ])('is refused: %s', async (_, statements, schema, table, message) => {
    await session.query(statements)
    const error = await refusalOf(session.query('select tasks.register($1, $2)', [schema, table]))
    expect(error.code).toBe('TQ005')
    expect(error.message).toContain(message)
    expect(error.hint).toBeTruthy()
  })

  // B-75
  it('is accepted with a warning when it is unlogged', async () => {
    await session.query('create unlogged table tasks.mail (like tasks.template including all)')
    await register()
    expect(notices).toContainEqual('tasks.mail is UNLOGGED: a crash of the server empties it')
    expect(await rowsOf(session, 'select table_name from tasks.types')).toEqual([{ table_name: 'mail' }])
  })
})

describe('upgrade', () => {
  it('adds what is missing, so that register accepts the table with its rows', async () => {
    await session.query(`
      create table tasks.mail (id bigint generated by default as identity primary key, created_at timestamptz not null default now(), payload text);
      insert into tasks.mail (payload) values ('a'), ('b')`)
    const refusal = await refusalOf(register())
    expect(refusal).toMatchObject({
      code: 'TQ005',
      message:
        'register: tasks.mail is no task table: it has none of the columns planned_to, started_at, finished_at, execution_count, canceled',
      hint: expect.stringMatching(/LIKE tasks\.template.*tasks\.upgrade\('tasks\.mail'\)/),
    })
    await session.query("select tasks.upgrade('tasks.mail')")
    await register()
    expect(
      (await rowsOf(session, 'select payload from tasks.acquire_tasks_mail(5)')).map((row) => row.payload),
    ).toEqual(['a', 'b'])
  })

  it('adds even the id, with the rows numbered', async () => {
    await session.query("create table tasks.mail (payload text); insert into tasks.mail values ('a'), ('b')")
    await session.query("select tasks.upgrade('tasks.mail')")
    await register()
    await session.query("insert into tasks.mail (payload) values ('c')")
    expect((await rowsOf(session, 'select id from tasks.mail order by id')).map((row) => row.id)).toEqual([
      '1',
      '2',
      '3',
    ])
  })

  it('changes nothing the second time', async () => {
    await create('')
    await session.query("select tasks.upgrade('tasks.mail')")
    await session.query('begin')
    await session.query("select tasks.upgrade('tasks.mail')")
    expect(await scalarOf(session, 'select pg_current_xact_id_if_assigned()')).toBeNull()
    await session.query('commit')
  })

  it('refuses a table whose own columns bear names of the template, and names them', async () => {
    await session.query('create table tasks.mail (id bigint primary key, priority text, comment integer, payload text)')
    const error = await refusalOf(session.query("select tasks.upgrade('tasks.mail')"))
    expect(error.code).toBe('TQ005')
    expect(error.message).toContain('column priority is text, the template has smallint')
    expect(error.message).toContain('column comment is integer, the template has text')
    expect(error.hint).toContain('Rename columns of your own')
    expect((await shapeOf('tasks.mail')).columns).toHaveLength(4)
  })

  it('waits a second at most for a table in use', async () => {
    await create('')
    await session.query('alter table tasks.mail drop column group_key')
    const other = await database.client()
    await other.query('begin')
    await other.query('select from tasks.mail')
    expect((await refusalOf(session.query("select tasks.upgrade('tasks.mail')"))).code).toBe('TQ008')
    await other.query('rollback')
  })
})

it('LIKE itself names the column of the user`s that has a template column`s name', async () => {
  expect((await refusalOf(create('including all', 'priority text'))).message).toBe(
    'column "priority" specified more than once',
  )
})
