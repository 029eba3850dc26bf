import { BatchTask, CancelTask, InvalidOptionError, RetryTask } from '@pg-tasks/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { countStates, readTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { startWorker, taskOf } from '../worker/start-worker.js'
import { Book, bookingsOf, createBookings, createPayments, type PaymentHandler } from './transaction-task.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  await createBookings(database.pool)
})

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

async function work(table: string, count: number, handler: PaymentHandler, size = 100) {
  await createPayments(database.pool, table, count)
  const task = new Book(table, handler)
  const recorded = await startWorker({ connectionString: database.url }, [task, size])
  return { task, recorded }
}

describe('tasks in one transaction', () => {
  it('are acquired, run and finished in few transactions, in order and once each', async () => {
    const { task, recorded } = await work('many', 250, () => {})
    await recorded.seen('finished', { count: 250 })
    const { amounts, transactions } = await bookingsOf(database.pool, 'many')
    expect(amounts).toEqual(numbers(250))
    // 100 at a time, and now and then one alone.
    expect(transactions).toBeLessThan(10)
    expect(task.seen).toEqual(numbers(250).map(String))
    expect(await countStates(database.pool, 'many')).toEqual({ finished: 250 })
    const rows = await readTasks(database.pool, 'many')
    expect(new Set(rows.map((row) => [row.execution_count, row.lost_count].join()))).toEqual(new Set(['1,0']))
    expect(new Set(rows.map((row) => row.run_worker))).toEqual(new Set([recorded.worker.id]))
    expect(recorded.of('error')).toEqual([])
  })

  it('have an outcome of their own each; what a failed one wrote is taken back, and no more', async () => {
    const { recorded } = await work('outcomes', 8, async ({ amount }, { tx }, self) => {
      if (amount === 2) throw new Error('boom')
      if (amount === 3) throw new RetryTask({ delayMs: 60_000 })
      if (amount === 4) throw new CancelTask('gone')
      if (amount === 5) await tx.query('select 1 / 0')
      if (amount === 6) await tx.query('select 1 / 0').catch(() => {})
      if (amount === 7) await self.finish(tx, '7', { comment: 'by itself' })
    })
    await recorded.seen('finished', { count: 3 })
    await recorded.seen('retried', { count: 4 })
    await recorded.seen('canceled')
    expect((await bookingsOf(database.pool, 'outcomes')).amounts).toEqual([1, 7, 8])
    const rows = await readTasks(database.pool, 'outcomes')
    expect(rows.map(({ state, execution_count }) => [state, execution_count])).toEqual([
      ['finished', 1],
      ['scheduled', 1],
      ['scheduled', 1],
      ['canceled', 1],
      ['scheduled', 1],
      ['scheduled', 1],
      ['finished', 1],
      ['finished', 1],
    ])
    expect(rows[1]?.last_error).toContain('boom')
    expect(rows[4]?.last_error).toContain('division by zero')
    expect(rows[5]?.last_error).toContain('TRANSACTION_ROLLED_BACK')
    expect(rows[6]?.comment).toBe('by itself')
    expect(recorded.ids('retried').toSorted()).toEqual(['2', '3', '5', '6'])
  })

  it('run again where one fails that shares their savepoint, in the same attempt; the one that fails does not', async () => {
    const { task, recorded } = await work('again', 40, ({ amount }) => {
      if (amount === 12 || amount === 13) throw new Error('boom')
    })
    await recorded.seen('finished', { count: 38 })
    await recorded.seen('retried', { count: 2 })
    expect((await bookingsOf(database.pool, 'again')).amounts).toEqual(numbers(40).filter((n) => n !== 12 && n !== 13))
    const times = numbers(40).map((amount) => task.seen.filter((id) => id === String(amount)).length)
    // The first one ran singly. After a failure each has a savepoint of its own.
    expect(times).toEqual([1, ...Array(10).fill(2), ...Array(29).fill(1)])
    expect(recorded.ids('started')).toEqual(numbers(40).map(String))
    expect(new Set((await readTasks(database.pool, 'again')).map((row) => row.execution_count))).toEqual(new Set([1]))
  })

  it('fail for good once their executions are used up', async () => {
    await createPayments(database.pool, 'used_up', 3, { maxRetries: 1, backoffBase: '10 ms', backoffMax: '10 ms' })
    const task = new Book('used_up', ({ amount }) => {
      if (amount === 2) throw new Error('always')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 10])
    await recorded.seen('failed')
    expect(
      (await readTasks(database.pool, 'used_up')).map(({ state, execution_count }) => [state, execution_count]),
    ).toEqual([
      ['finished', 1],
      ['failed', 2],
      ['finished', 1],
    ])
  })

  it('let a handler use savepoints, steps and statements that it does not await', async () => {
    const { recorded } = await work('liberties', 3, async ({ amount }, { tx, once }) => {
      await tx.query('savepoint mine')
      await tx.query('select 1 / 0').catch(() => {})
      await tx.query('rollback to mine')
      const value = await once(tx, 'step', async () => amount * 2)
      void tx.query('insert into bookings (of, task_id, amount) values ($1, 0, $2)', ['liberties', value])
    })
    await recorded.seen('finished', { count: 3 })
    expect((await bookingsOf(database.pool, 'liberties')).amounts).toEqual([1, 2, 2, 3, 4, 6])
  })

  it.each([
    ['COMMIT', (tx: { query(text: string): Promise<unknown> }) => tx.query(' commit'), 'INVALID_ARGUMENT'],
    [
      'COMMIT_behind_comments',
      (tx: { query(text: string): Promise<unknown> }) => tx.query('/* traced * */ -- by a library\n; commit'),
      'INVALID_ARGUMENT',
    ],
    ['ROLLBACK', (tx: { query(text: string): Promise<unknown> }) => tx.query('rollback'), 'INVALID_ARGUMENT'],
  ])('refuse %s', async (name, statement, code) => {
    const table = `refuse_${name.toLowerCase()}`
    const { recorded } = await work(table, 2, async ({ amount }, { tx }) => {
      if (amount === 1) await statement(tx)
    })
    await recorded.seen('finished')
    await recorded.seen('retried')
    expect((await readTasks(database.pool, table))[0]?.last_error).toContain(code)
    expect((await bookingsOf(database.pool, table)).amounts).toEqual([2])
  })

  it.each(['finish', 'retry', 'cancel'] as const)(
    'are retried where their handler took its %s back with a savepoint of its own and returned',
    async (verb) => {
      const table = `took_back_${verb}`
      await createPayments(database.pool, table, 4)
      const task = new Book(table, async (row, { tx }, self) => {
        // Singly and in a batch.
        if (row.amount !== 1 && row.amount !== 3) return
        await tx.query('savepoint own')
        await self[verb](tx, row)
        await tx.query('rollback to savepoint own')
      })
      const recorded = await startWorker({ connectionString: database.url }, [task, 10])
      await recorded.seen('finished', { count: 2 })
      await recorded.seen('retried', { count: 2 })
      expect(recorded.of('retried').map(({ error }) => error.code)).toEqual(['NOT_SETTLED', 'NOT_SETTLED'])
      expect(await countStates(database.pool, table)).toEqual({ finished: 2, scheduled: 2 })
      expect((await bookingsOf(database.pool, table)).amounts).toEqual([2, 4])
    },
  )

  it('refuse a step without their transaction, and statements after their end', async () => {
    let late: Promise<unknown> | undefined
    const { recorded } = await work('late', 2, async ({ amount }, { tx, once }) => {
      if (amount === 1) await once('step', async () => 1)
      setImmediate(() => {
        late = tx.query('select 1').catch((error) => error)
      })
    })
    await recorded.seen('finished')
    await recorded.seen('retried')
    expect((await readTasks(database.pool, 'late'))[0]?.last_error).toContain('INVALID_ARGUMENT')
    expect(await late).toMatchObject({ code: 'CLOSED' })
  })

  it('roll the whole batch back where the commit refuses one of them, and run singly', async () => {
    await database.pool.query(`create table accounts (amount integer primary key); insert into accounts values (1), (3);
      create table deferred_bookings (amount integer references accounts deferrable initially deferred)`)
    const { recorded } = await work('deferred', 3, async ({ amount }, { tx }) => {
      await tx.query('insert into deferred_bookings values ($1)', [amount])
    })
    await recorded.seen('finished', { count: 2 })
    await recorded.seen('retried')
    expect(
      (await readTasks(database.pool, 'deferred')).map(({ state, execution_count }) => [state, execution_count]),
    ).toEqual([
      ['finished', 1],
      ['scheduled', 1],
      ['finished', 1],
    ])
    expect((await bookingsOf(database.pool, 'deferred')).amounts).toEqual([1, 3])
    expect((await database.pool.query('select * from tasks.batches')).rows).toEqual([])
  })
})

describe('the option', () => {
  it('goes neither with autoFinish false nor with a BatchTask', () => {
    expect(() => new Book('refused', () => {}, { autoFinish: false })).toThrow(InvalidOptionError)
    class Together extends BatchTask {
      constructor() {
        super({ settle: 'one_transaction' })
      }
      override async runMany(): Promise<void> {}
    }
    expect(() => new Together()).toThrow(InvalidOptionError)
    expect(() => new Book('refused', () => {}, { settle: 'one transaction' as never })).toThrow(/one_transaction/)
  })

  it('is what gives a handler its transaction', async () => {
    await createPayments(database.pool, 'without', 1)
    const task = taskOf('without', async (_, { tx }) => tx.query('select 1'))
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    await recorded.seen('retried')
    expect((await readTasks(database.pool, 'without'))[0]?.last_error).toContain("settle: 'one_transaction'")
  })
})
