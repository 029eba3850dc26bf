import { schedule, Worker } from '@pg-tasks/client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { scalarOf } from '../sql/rows-of.js'
import { taskOf } from '../worker/start-worker.js'
import { Scheduling } from './scheduling.js'

interface Order {
  [column: string]: unknown
}

const order = taskOf<Order>('order')

let scheduling: Scheduling

beforeAll(async () => {
  scheduling = await Scheduling.create()
  await scheduling.pool.query(
    `create type shade as enum ('dark', 'light');
     create domain positive as integer check (value > 0);
     create domain given as text not null;
     create domain given_by_itself as text not null default 'd'`,
  )
  await createTaskType(scheduling.pool, 'order', {
    columns: `customer bigint not null, email text, shade shade, code varchar(3), price numeric(6, 2), dispatched date,
      sent_at timestamptz, labels text[], details jsonb, raw bytea, rate double precision, rank positive, "a, b" text,
      "Mixed" text default 'x', doubled bigint generated always as (customer * 2) stored,
      number bigint generated always as identity, retries integer not null default 3, by_itself given_by_itself`,
  })
  await createTaskType(scheduling.pool, 'strict', { columns: 'why given' })
})

beforeEach(async () => {
  await scheduling.clear()
  await scheduling.stopClockAt('2027-01-01T00:00:00Z')
})

function refused(columns: Order): Promise<unknown> {
  return schedule(scheduling.pool, order, { key: 'order', cron: '@daily' }, columns).then(
    (state) => state,
    (error: unknown) => error,
  )
}

describe('the columns of a schedule', () => {
  it.each([
    { columns: { customer: '1', emial: 'a@b' }, message: 'tasks."order" has no column emial' },
    { columns: { customer: '1', mixed: 'a' }, message: 'tasks."order" has no column mixed' },
    {
      columns: { customer: 'one' },
      message: 'the column customer of tasks."order" is bigint and can\'t be "one": invalid input',
    },
    { columns: {}, message: 'the column customer of tasks."order" must not be NULL: give it a value' },
    { columns: { customer: null }, message: 'the column customer of tasks."order" must not be NULL' },
    { columns: { customer: 1, retries: null }, message: 'the column retries of tasks."order" must not be NULL' },
    {
      columns: { customer: 1, shade: 'blue' },
      message: 'the column shade of tasks."order" is shade and can\'t be "blue"',
    },
    { columns: { customer: 1, code: 'long' }, message: 'the column code of tasks."order" is character varying(3)' },
    { columns: { customer: 1, price: 12_345.678 }, message: 'the column price of tasks."order" is numeric(6,2)' },
    { columns: { customer: 1, dispatched: '2027-02-30' }, message: 'the column dispatched of tasks."order" is date' },
    { columns: { customer: 1, labels: 'x' }, message: 'the column labels of tasks."order" is text[]' },
    { columns: { customer: 1, rank: 0 }, message: 'the column rank of tasks."order" is positive and can\'t be 0' },
    { columns: { customer: 1, doubled: 2 }, message: 'PostgreSQL computes the column doubled' },
    { columns: { customer: 1, number: 2 }, message: 'PostgreSQL computes the column number' },
    { columns: { customer: 1, planned_to: new Date() }, message: 'the queue writes the column planned_to itself' },
    {
      columns: { customer: 1, id: 5, occurrence_at: null },
      message: 'the queue writes the column id, occurrence_at itself',
    },
    { columns: { customer: 1, priority: 7 }, message: 'the column priority must be from 0 to 3, not 7' },
    { columns: { customer: 1, priority: 'high' }, message: 'the column priority of tasks."order" is smallint' },
    { columns: { customer: 1, trace_id: 'x' }, message: 'the column trace_id of tasks."order" is uuid' },
    { columns: { customer: 1, by_itself: null }, message: 'the column by_itself of tasks."order" must not be NULL' },
  ])('are refused: $message', async ({ columns, message }) => {
    expect(await refused(columns as Order)).toMatchObject({
      code: 'INVALID_SQL_ARGUMENT',
      message: expect.stringContaining(`schedule: ${message}`),
    })
    expect(await scheduling.row('order')).toBeUndefined()
  })

  it('are refused without the value that a NOT NULL domain asks for', async () => {
    const error = await refusalOf(
      scheduling.pool.query(`select tasks.schedule('s', 'tasks', 'strict', every => '1 h')`),
    )
    expect(error).toMatchObject({ code: 'TQ003', message: expect.stringContaining('the column why of tasks.strict') })
  })

  it.each(['[]', '"text"', '1'])('must be an object, not %s', async (columns) => {
    const error = await refusalOf(
      scheduling.pool.query(`select tasks.schedule('s', 'tasks', 'tick', every => '1 h', columns => $1)`, [columns]),
    )
    expect(error).toMatchObject({ code: 'TQ003', message: expect.stringContaining('must be a JSON object') })
  })

  it('arrive in the task, whatever their types', async () => {
    const sentAt = new Date('2026-12-31T23:59:59.123Z')
    await schedule(
      scheduling.pool,
      order,
      { key: 'order', everyMs: 60_000 },
      {
        customer: 9_007_199_254_740_993n,
        email: null,
        shade: 'dark',
        code: 'abc',
        price: '12.50',
        dispatched: '2027-02-28',
        sent_at: sentAt,
        labels: ['a', 'b, c', null],
        details: { deep: [1, { x: null }] },
        raw: Buffer.from([0, 1, 255]),
        rate: Number.NaN,
        rank: 1,
        'a, b': 'awkward',
        Mixed: undefined,
        priority: 3,
        group_key: 'g',
      },
    )
    await scheduling.passAt('2027-01-01T00:01:00Z')
    const { rows } = await scheduling.pool.query('select t.*, dispatched::text from tasks."order" t')
    expect(rows).toMatchObject([
      {
        customer: '9007199254740993',
        email: null,
        shade: 'dark',
        code: 'abc',
        price: '12.50',
        dispatched: '2027-02-28',
        sent_at: sentAt,
        labels: ['a', 'b, c', null],
        details: { deep: [1, { x: null }] },
        raw: Buffer.from([0, 1, 255]),
        rate: Number.NaN,
        rank: 1,
        'a, b': 'awkward',
        Mixed: 'x',
        doubled: '18014398509481986',
        retries: 3,
        by_itself: 'd',
        priority: 3,
        group_key: 'g',
        schedule_key: 'order',
        occurrence_at: new Date('2027-01-01T00:01:00Z'),
        schedule_trigger: 'schedule',
        planned_to: new Date('2027-01-01T00:01:00Z'),
      },
    ])
  })

  it('may be none', async () => {
    await scheduling.pool.query(
      `create table tasks.bare (like tasks.template including defaults including identity including indexes);
       select tasks.register('tasks', 'bare'), tasks.schedule('bare', 'tasks', 'bare', every => '1 min', columns => null)`,
    )
    await scheduling.passAt('2027-01-01T00:01:00Z')
    expect(await scalarOf(scheduling.pool, 'select schedule_key from tasks.bare')).toBe('bare')
  })

  it('that the database refuses make run() of a worker that declares them fail', async () => {
    const worker = new Worker({ connectionString: scheduling.database.url, handleSignals: false })
    worker.schedule(order, { key: 'order', cron: '@daily' }, { customer: 'one' })
    await expect(worker.run()).rejects.toMatchObject({
      code: 'INVALID_SQL_ARGUMENT',
      message: expect.stringContaining('column customer'),
    })
  })
})
