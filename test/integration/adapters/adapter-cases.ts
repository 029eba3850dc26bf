import { type Claimed, Task, TaskNotRunningError } from '@pg-tasks/client'
import type { Queryable } from '@pg-tasks/sql'
import { expect, it } from 'vitest'
import { createTaskType, readTask, readTasks } from '../../support/task-type.js'
import type { TestDatabase } from '../../support/test-database.js'

/** Columns of every kind in which drivers differ. */
const COLUMNS = `amount bigint not null, at timestamptz, day_at timestamp, data json, more jsonb, tags text[], numbers bigint[],
  yes boolean, bytes bytea, many timestamptz[], price numeric`

export interface Own {
  amount: string
  at?: Date | null
  day_at?: Date | null
  data?: unknown
  more?: unknown
  tags?: string[] | null
  numbers?: string[] | null
  yes?: boolean | null
  bytes?: Uint8Array | null
  many?: Array<Date | null> | null
  price?: string | null
}

class Ship extends Task<Own> {
  override async run(): Promise<void> {}
}

const AT = new Date('2026-03-29T01:30:00.123Z')

/** One task with a value in each column. */
const FULL: Own = {
  amount: '9007199254740993',
  at: AT,
  data: ['a', { b: 'c"\\' }],
  more: 'just a text',
  tags: ['plain', 'with "quotes", comma and \\', ''],
  numbers: ['9007199254740993', '-1'],
  yes: true,
  bytes: Uint8Array.from([0, 222, 173, 255]),
  many: [AT],
  price: '12.5',
}

/** What a connection of some other library has to do. */
export interface AdapterUnderTest {
  readonly database: () => TestDatabase
  /** Outside of a transaction. */
  readonly connection: () => Queryable
  /** Runs work in a transaction of the library; a throw rolls it back. */
  readonly transaction: <Value>(work: (tx: Queryable) => Promise<Value>) => Promise<Value>
}

/** The tests of an adapter, the same for each. */
export function adapterCases({ database, connection, transaction }: AdapterUnderTest): void {
  const typeOf = async (table: string) => {
    await createTaskType(database().pool, table, { columns: COLUMNS })
    return new Ship({ table })
  }

  it('enqueues and finishes in its transaction, which commits', async () => {
    const ship = await typeOf('committed')
    const id = await transaction((tx) => ship.enqueue(tx, { amount: '1' }))
    const [task] = await ship.acquire(connection())
    expect(task?.id).toBe(id)
    await transaction(async (tx) => {
      await tx.query('create table work_done (id bigint)')
      await ship.finish(tx, task as Claimed<Own>, { comment: 'sent' })
    })
    expect(await readTask(database().pool, 'committed', id)).toMatchObject({ state: 'finished', comment: 'sent' })
    await expect(database().pool.query('select from work_done')).resolves.toBeDefined()
  })

  it('takes both back with its transaction', async () => {
    const ship = await typeOf('rolled_back')
    const rollback = new Error('no')
    await expect(
      transaction(async (tx) => {
        await ship.enqueue(tx, { amount: '1' })
        throw rollback
      }),
    ).rejects.toBe(rollback)
    expect(await readTasks(database().pool, 'rolled_back')).toEqual([])

    const id = await ship.enqueue(connection(), { amount: '1' })
    const [task] = await ship.acquire(connection())
    await expect(
      transaction(async (tx) => {
        await ship.finish(tx, task as Claimed<Own>)
        throw rollback
      }),
    ).rejects.toBe(rollback)
    expect((await readTask(database().pool, 'rolled_back', id)).state).toBe('running')
  })

  it('rolls back where the task was taken over, and tells it by our class', async () => {
    const ship = await typeOf('taken_over')
    await ship.enqueue(connection(), { amount: '1' })
    const [task] = await ship.acquire(connection())
    await ship.reset(connection(), (task as Claimed<Own>).id)
    const stale = transaction(async (tx) => {
      await ship.enqueue(tx, { amount: '2' })
      await ship.finish(tx, task as Claimed<Own>)
    })
    await expect(stale).rejects.toBeInstanceOf(TaskNotRunningError)
    expect(await readTasks(database().pool, 'taken_over')).toHaveLength(1)
  })

  it.each([
    ['one by one', 1],
    ['several at once', 3],
  ])('carries values of every kind as node-postgres does, %s', async (_how, count) => {
    const ship = await typeOf(`values_${count}`)
    // The second time, the kinds of the columns are known, and the values travel as text.
    for (let round = 0; round < 2; round += 1) {
      await ship.enqueueMany(
        connection(),
        Array.from({ length: count }, () => FULL),
      )
    }
    const { rows } = await database().pool.query(`select * from tasks.values_${count}`)
    expect(rows).toHaveLength(2 * count)
    for (const row of rows) expect(row).toMatchObject({ ...FULL, bytes: Buffer.from(FULL.bytes as Uint8Array) })
  })

  it('carries plain columns in the short way', async () => {
    const ship = await typeOf('plain')
    const plain = { amount: '9007199254740993', at: AT, more: { a: [1] }, yes: true, price: '12.5' }
    for (let round = 0; round < 2; round += 1) await ship.enqueue(connection(), plain)
    const ids = await ship.enqueueMany(connection(), [
      { ...plain, yes: false },
      { ...plain, at: null },
    ])
    expect(ids).toEqual(['3', '4'])
    const rows = await readTasks(database().pool, 'plain')
    expect(rows).toMatchObject([plain, plain, { ...plain, yes: false }, { ...plain, at: null }])
  })

  it('reads ids as strings, times as dates, json and arrays as what they are', async () => {
    const ship = await typeOf('read')
    const [id] = await ship.enqueueMany(database().pool, [{ ...FULL, day_at: null }])
    const [task] = await ship.acquire(connection())
    const { amount, at, data, more, tags, numbers, yes, many, price } = FULL
    expect(task).toMatchObject({ id, amount, at, data, more, tags, numbers, yes, many, price })
    expect(task?.started_at).toBeInstanceOf(Date)
    expect(task?.planned_to).toBeInstanceOf(Date)
    expect(task?.finished_at).toBeNull()
    expect(Buffer.from(task?.bytes as Uint8Array)).toEqual(Buffer.from(FULL.bytes as Uint8Array))
  })

  it('retries, cancels, resets and cleans', async () => {
    const ship = await typeOf('all_verbs')
    await ship.enqueueMany(connection(), [{ amount: '1' }, { amount: '2' }], { delayMs: 0 })
    const tasks = await ship.acquire(connection(), 2)
    expect(await ship.retry(connection(), tasks[0] as Claimed<Own>, { delayMs: 60_000 })).toBe('scheduled')
    expect(await ship.cancel(connection(), tasks[1] as Claimed<Own>, { comment: 'no' })).toBe('running')
    expect(await ship.reset(connection(), '1')).toBe('scheduled')
    expect(await ship.cancel(connection(), '1')).toBe('ready')
    expect(await ship.clean(connection(), { before: new Date(Date.now() + 60_000), states: ['canceled'] })).toBe(2)
  })
}
