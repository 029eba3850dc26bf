import {
  type BatchRun,
  BatchTask,
  CancelTask,
  type Claimed,
  inTransaction,
  RetryTask,
  Task,
  type TaskContext,
} from '@pg-tasks/client'
import { assertEnqueued, drain, inRolledBackTransaction, startTestClock } from '@pg-tasks/client/testing'
import type { Queryable } from '@pg-tasks/sql'
import type { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { countStates, createTaskType, insertTasks, readTask, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { taskOf } from '../worker/start-worker.js'

let database: TestDatabase
let pool: Pool

beforeAll(async () => {
  database = await createDatabase()
  pool = database.pool
})

describe('drain', () => {
  it('runs what is due, also what that enqueues, and leaves what is not', async () => {
    await createTaskType(pool, 'parent')
    await createTaskType(pool, 'child', { columns: 'parent bigint' })
    const child = taskOf<{ parent: string }>('child')
    const parent = taskOf('parent', async ({ id }) => {
      await child.enqueue(pool, { parent: id })
      await child.enqueue(pool, { parent: id }, { delayMs: 60_000 })
    })
    await parent.enqueueMany(pool, [{}, {}])
    const runs = await drain(pool, [child, parent])
    expect(runs.map(({ table, id, attempt, state, error }) => [table, id, attempt, state, error])).toEqual([
      ['parent', '1', 1, 'finished', undefined],
      ['child', '1', 1, 'finished', undefined],
      ['parent', '2', 1, 'finished', undefined],
      ['child', '3', 1, 'finished', undefined],
    ])
    expect(await countStates(pool, 'child')).toEqual({ finished: 2, scheduled: 2 })
    expect(await drain(pool, parent)).toEqual([])
  })

  it('settles as a worker does, and throws what a handler throws', async () => {
    await createTaskType(pool, 'settled', { maxRetries: 1 })
    const task = taskOf('settled', async ({ id }, _context, self) => {
      if (id === '1') throw new RetryTask({ delayMs: 60_000, comment: 'later' })
      if (id === '2') throw new CancelTask('never')
      if (id === '3') await self.finish(pool, id, { comment: 'itself' })
      if (id === '4') throw new TypeError('broken')
    })
    await insertTasks(pool, 'settled', 5)
    await expect(drain(pool, task)).rejects.toThrow(TypeError)
    const rows = await readTasks(pool, 'settled')
    expect(rows.map(({ state, comment }) => [state, comment])).toEqual([
      ['scheduled', 'later'],
      ['canceled', 'never'],
      ['finished', 'itself'],
      ['scheduled', null],
      ['ready', null],
    ])
    expect(rows[3]?.last_error).toMatch(/TypeError: broken/)
  })

  it('collects errors where that is asked for, until the executions are used up', async () => {
    await createTaskType(pool, 'failing', { maxRetries: 1, backoffBase: '1 hour', backoffMax: '1 hour' })
    const task = taskOf('failing', async (_task, { attempt }) => {
      throw new Error(`attempt ${attempt}`)
    })
    await insertTasks(pool, 'failing')
    const clock = await startTestClock(pool)
    const first = await drain(pool, task, { errors: 'collect' })
    await clock.advance(2 * 3_600_000)
    const second = await drain(pool, task, { errors: 'collect' })
    await clock.restore()
    expect([...first, ...second].map(({ state, error }) => [state, (error as Error).message])).toEqual([
      ['scheduled', 'attempt 1'],
      ['failed', 'attempt 2'],
    ])
  })

  it('retries a task whose handler let its own finish be rolled back', async () => {
    await createTaskType(pool, 'taken_back')
    const task = taskOf('taken_back', async (row, _context, self) => {
      await inTransaction(pool, async (tx) => {
        await self.finish(tx, row)
        throw new Error('no')
      }).catch(() => {})
    })
    await insertTasks(pool, 'taken_back')
    const [run] = await drain(pool, task)
    expect(run?.state).toBe('scheduled')
    expect((await readTask(pool, 'taken_back', '1')).last_error).toMatch(/rolled back|not settled|NotSettled/i)
  })

  it('works in a transaction that is rolled back', async () => {
    await createTaskType(pool, 'isolated', { columns: 'note text' })
    await pool.query('create table notes (note text)')
    class Isolated extends Task<{ note: string }> {
      readonly #connection: Queryable
      constructor(connection: Queryable) {
        super({ table: 'isolated' })
        this.#connection = connection
      }
      override async run({ note }: Claimed<{ note: string }>, { once }: TaskContext) {
        await once('write', () => this.#connection.query('insert into notes values ($1)', [note]).then(() => 1))
      }
    }
    await inRolledBackTransaction(pool, async (tx) => {
      const task = new Isolated(tx)
      await task.enqueue(tx, { note: 'hello' })
      await assertEnqueued(tx, task, { note: 'hello' }, { count: 1 })
      expect(await drain(tx, task)).toMatchObject([{ state: 'finished' }])
      expect((await tx.query('select note from notes')).rows).toEqual([{ note: 'hello' }])
    })
    expect(await readTasks(pool, 'isolated')).toEqual([])
    expect((await pool.query('select from notes')).rowCount).toBe(0)
  })

  it("throws the handler's error where that has spoilt the transaction", async () => {
    await createTaskType(pool, 'spoilt')
    await expect(
      inRolledBackTransaction(pool, async (tx) => {
        const task = taskOf('spoilt', () => tx.query('select nonsense'))
        await task.enqueue(tx, {})
        await drain(tx, task)
      }),
    ).rejects.toMatchObject({ code: '42703' })
  })

  it('gives a BatchTask its batches', async () => {
    await createTaskType(pool, 'batched')
    const sizes: number[] = []
    class Batched extends BatchTask {
      override async runMany(runs: readonly BatchRun[]) {
        sizes.push(runs.length)
      }
    }
    await insertTasks(pool, 'batched', 5)
    await drain(pool, new Batched(), { batchSize: 3 })
    expect(sizes).toEqual([3, 2])
  })

  it('gives tasks in one transaction the connection as theirs, and middleware its turn', async () => {
    await createTaskType(pool, 'in_one')
    const seen: unknown[] = []
    const task = taskOf('in_one', async (_task, { tx }) => seen.push((await tx.query('select 1 as one')).rows[0]), {
      settle: 'one_transaction',
    })
    await insertTasks(pool, 'in_one')
    await drain(pool, task, {
      middleware: [
        (_task, { table }, next) => {
          seen.push(table)
          return next()
        },
      ],
    })
    expect(seen).toEqual(['in_one', { one: 1 }])
  })

  it('ends where tasks enqueue each other for ever, and where a type is not registered', async () => {
    await createTaskType(pool, 'endless')
    const task = taskOf('endless', (_row, _context, self) => self.enqueue(pool, {}))
    await task.enqueue(pool, {})
    await expect(drain(pool, task, { maxRuns: 10 })).rejects.toThrow(/more than 10 runs/)
    await expect(drain(pool, taskOf('nowhere'))).rejects.toThrow(/tasks\.nowhere is not a registered task type/)
    await expect(drain(pool, task, { maxRun: 1 } as never)).rejects.toThrow(/Did you mean "maxRuns"/)
  })
})
