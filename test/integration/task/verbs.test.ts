import { type Claimed, inTransaction, Task } from '@pg-tasks/client'
import { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, readTask, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { within } from '../../support/wait-for.js'
import { CONNECTIONS } from './connections.js'

class SendLetter extends Task<{ address: string; stamps?: number }> {
  override async run(): Promise<void> {}
}

const letters = new SendLetter()
let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createTaskType(database.pool, 'send_letter', {
    columns: 'address text not null, stamps int not null default 1',
  })
})

const read = (id: string) => readTask(database.pool, 'send_letter', id)

describe.each(CONNECTIONS)('on $name', ({ use }) => {
  it('every verb does what it says', async () => {
    const ids: string[] = []
    await use(database, async (connection) => {
      await database.pool.query('truncate tasks.send_letter').catch(() => {})
      const first = await letters.enqueue(connection, { address: 'a' })
      const second = await letters.enqueue(connection, { address: 'b', stamps: 2 })
      const more = await letters.enqueueMany(connection, [{ address: 'c' }, { address: 'd' }, { address: 'e' }])
      ids.push(first, second, ...more)
      const claimed = await letters.acquire(connection, 4)
      expect(claimed.map(({ id, address, stamps }) => [id, address, stamps])).toEqual([
        [first, 'a', 1],
        [second, 'b', 2],
        [more[0], 'c', 1],
        [more[1], 'd', 1],
      ])
      const [one, two, three, four] = claimed as unknown as [Claimed, Claimed, Claimed, Claimed]
      await letters.finish(connection, one, { comment: 'sent' })
      expect(await letters.retry(connection, two, { delayMs: 3_600_000, comment: 'no stamps', error: 'poor' })).toBe(
        'scheduled',
      )
      expect(await letters.retry(connection, three, { delayMs: 0 })).toBe('ready')
      expect(await letters.cancel(connection, four, { comment: 'withdrawn' })).toBe('running')
      expect(await letters.cancel(connection, one.id)).toBe('finished')
      expect(await letters.reset(connection, four.id)).toBe('canceled')
      expect(await letters.clean(connection, { olderThanMs: 0 })).toBe(1)
    })
    const [first, second, ...more] = ids as [string, string, string, string, string]
    const rows = await readTasks(database.pool, 'send_letter')
    expect(rows.map((row) => row.id)).toEqual([second, ...more])
    expect(first).toMatch(/^\d+$/)
    expect(await read(second)).toMatchObject({
      state: 'scheduled',
      comment: 'no stamps',
      last_error: 'poor',
      execution_count: 1,
    })
    expect(await read(more[0])).toMatchObject({ state: 'ready', execution_count: 1 })
    expect(await read(more[1])).toMatchObject({ state: 'ready', execution_count: 0, comment: null })
    expect(await read(more[2])).toMatchObject({ state: 'ready', execution_count: 0 })
  })
})

// B-53
describe('in the transaction of a handler that holds the only connection of its pool', () => {
  it('every verb is part of it: none waits for another connection, and all are undone by a rollback', async () => {
    const pool = new Pool({ connectionString: database.url, max: 1 })
    pool.on('error', () => {})
    await database.pool.query('truncate tasks.send_letter')
    const [id] = await letters.enqueueMany(pool, [{ address: 'a' }, { address: 'b' }, { address: 'c' }])
    const claimed = await letters.acquire(pool, 3)
    const work = (end: () => void) =>
      inTransaction(pool, async (tx) => {
        await letters.enqueue(tx, { address: 'd' })
        await letters.enqueueMany(tx, [{ address: 'e' }, { address: 'f' }])
        await letters.finish(tx, claimed[0] as Claimed)
        await letters.retry(tx, claimed[1] as Claimed)
        await letters.cancel(tx, claimed[2] as Claimed)
        await letters.reset(tx, claimed[2] as Claimed)
        await letters.clean(tx, { before: new Date(0) })
        await letters.acquire(tx)
        end()
      })
    await expect(
      within(
        work(() => {
          throw new Error('after all')
        }),
      ),
    ).rejects.toThrow('after all')
    expect((await readTasks(database.pool, 'send_letter')).map((row) => row.state)).toEqual([
      'running',
      'running',
      'running',
    ])
    await within(work(() => {}))
    expect((await readTasks(database.pool, 'send_letter')).length).toBe(6)
    expect(await read(id as string)).toMatchObject({ state: 'finished' })
    await pool.end()
  })
})

it('no verb opens or ends a transaction, and each runs its statements one after the other', async () => {
  const client = await database.client()
  await database.pool.query('truncate tasks.send_letter')
  const texts: string[] = []
  let running = 0
  const watched = {
    query: async (text: string, values?: readonly unknown[]) => {
      expect(running).toBe(0)
      running += 1
      texts.push(text)
      try {
        return await client.query(text, values && [...values])
      } finally {
        running -= 1
      }
    },
  }
  await letters.enqueueMany(watched, [{ address: 'a' }, { address: 'b', stamps: 3 }, { address: 'c', stamps: 4 }])
  const [first, second, third] = await letters.acquire(watched, 3)
  await letters.finish(watched, first as Claimed)
  await letters.retry(watched, second as Claimed)
  await letters.cancel(watched, third as Claimed)
  await letters.reset(watched, third as Claimed)
  await letters.clean(watched, { olderThanMs: 0 })
  expect(texts.filter((text) => /\b(begin|start|commit|rollback|savepoint)\b/i.test(text))).toEqual([])
  expect(texts.length).toBeGreaterThanOrEqual(8)
})

describe('a connection that is none', () => {
  it.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /connection.*undefined/],
    ['a connection string', 'postgres://localhost', /a string/],
    ['a promise of a client', Promise.resolve(), /await/],
    ['the Pool class', Pool, /class/],
  ])('is refused by name: %s', async (_name, connection, message) => {
    const error = await letters.enqueue(connection as never, { address: 'a' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'InvalidArgumentError', code: 'INVALID_ARGUMENT' })
    expect((error as Error).message).toMatch(message)
  })
})

describe('a refused verb', () => {
  it('raises an error of a class that says what is the matter, with the way out', async () => {
    await database.pool.query('truncate tasks.send_letter')
    const id = await letters.enqueue(database.pool, { address: 'a' })
    await expect(letters.finish(database.pool, id)).rejects.toMatchObject({
      name: 'TaskNotRunningError',
      code: 'TASK_NOT_RUNNING',
      sqlState: 'TQ001',
    })
    await expect(letters.finish(database.pool, '99')).rejects.toMatchObject({
      name: 'TaskNotFoundError',
      code: 'TASK_NOT_FOUND',
    })
    const [claimed] = await letters.acquire(database.pool)
    const stale = { ...(claimed as Claimed), run_token: '11111111-1111-1111-1111-111111111111' }
    await expect(letters.finish(database.pool, stale)).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' })
    await expect(letters.retry(database.pool, stale)).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' })
    await expect(letters.cancel(database.pool, stale)).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' })
    await expect(letters.acquire(database.pool, 0)).rejects.toMatchObject({ code: 'INVALID_SQL_ARGUMENT' })
    await expect(new SendLetter({ table: 'nowhere' }).finish(database.pool, id)).rejects.toThrow(/nowhere/)
  })

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5', 1e300])(
    'refuses the delay %s before it asks the database',
    async (delayMs) => {
      const refused = { name: 'InvalidArgumentError', message: expect.stringMatching(/delayMs/) }
      await expect(
        letters.enqueue({} as never, { address: 'a' }, { delayMs: delayMs as number }),
      ).rejects.toMatchObject(refused)
      await expect(letters.retry({} as never, '1', { delayMs: delayMs as number })).rejects.toMatchObject(refused)
    },
  )

  it('refuses two times for a retry, and one that is no date', async () => {
    await expect(letters.retry({} as never, '1', { delayMs: 1, plannedTo: new Date() })).rejects.toThrow(/plannedTo/)
    await expect(letters.retry({} as never, '1', { plannedTo: new Date(Number.NaN) })).rejects.toThrow(/plannedTo/)
  })
})
