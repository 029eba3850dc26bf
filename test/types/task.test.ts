import {
  type Claimed,
  type EnqueueTaskOptions,
  inTransaction,
  type NewTask,
  RetryTask,
  Task,
  type TaskContext,
  type TaskReference,
  Worker,
  type WorkerEvents,
} from '@pg-tasks/client'
import type { Queryable, TaskState } from '@pg-tasks/sql'
import type { Kysely, Transaction } from 'kysely'
import type { Client, Pool, PoolClient } from 'pg'
import { expectTypeOf, it } from 'vitest'

declare const pool: Pool
declare const client: Client
declare const poolClient: PoolClient
/** A pool that gives promises alone, of clients of its own kind. */
declare const ownPool: {
  connect(): Promise<{
    query(text: string): Promise<{ rows: unknown[]; rowCount: number | null }>
    release(): void
    own: 'mine'
  }>
}
declare const kysely: Kysely<{ orders: { id: string } }>
declare const transaction: Transaction<{ orders: { id: string } }>

/** `note` may be NULL, `copies` has a default. */
type Own = { order_id: string; email: string; note: string | null; copies?: number }

class SendInvoice extends Task<Own> {
  override async run(task: Claimed<Own>, context: TaskContext): Promise<void> {
    expectTypeOf(task.order_id).toEqualTypeOf<string>()
    expectTypeOf(task.note).toEqualTypeOf<string | null>()
    expectTypeOf(task.id).toEqualTypeOf<string>()
    expectTypeOf(task.planned_to).toEqualTypeOf<Date>()
    expectTypeOf(task.started_at).toEqualTypeOf<Date>()
    expectTypeOf(task.run_token).toEqualTypeOf<string>()
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
    expectTypeOf(context.attempt).toEqualTypeOf<number>()
    expectTypeOf(context.tx).toEqualTypeOf<Queryable>()
    // @ts-expect-error: there is no such column
    void task.nonsense
    // @ts-expect-error: rows are read-only
    task.email = 'b@example.com'
  }
}

declare const invoices: SendInvoice

it('a task that is enqueued has the columns of its type: those that may be left out, and no others', () => {
  expectTypeOf<NewTask<Own>>().toMatchTypeOf<{
    order_id: string
    email: string
    note?: string | null
    copies?: number
  }>()
  const calls = [
    () => invoices.enqueue(pool, { order_id: '1', email: 'a@example.com' }),
    () =>
      invoices.enqueue(pool, { order_id: '1', email: 'a', note: null, copies: 2, priority: 0, planned_to: new Date() }),
    () => invoices.enqueueMany(pool, [{ order_id: '1', email: 'a' }], { delayMs: 5 }),
    // @ts-expect-error: email is missing
    () => invoices.enqueue(pool, { order_id: '1' }),
    // @ts-expect-error: a number is no text
    () => invoices.enqueue(pool, { order_id: 1, email: 'a' }),
    // @ts-expect-error: there is no such column
    () => invoices.enqueue(pool, { order_id: '1', email: 'a', emial: 'b' }),
    // @ts-expect-error: in one of many rows neither
    () => invoices.enqueueMany(pool, [{ order_id: '1', email: 'a' }, { order_id: '1' }]),
    // @ts-expect-error: what the database decides can't be given
    () => invoices.enqueue(pool, { order_id: '1', email: 'a', run_token: 'x' }),
    // @ts-expect-error: an unknown option
    () => invoices.enqueue(pool, { order_id: '1', email: 'a' }, { delay: 5 }),
  ]
  expectTypeOf(calls).toBeArray()
})

it('every kind of connection goes with every verb, and nothing else does', () => {
  const verbs = [
    () => invoices.finish(pool, '1'),
    () => invoices.finish(client, 1n),
    () => invoices.retry(poolClient, 1, { delayMs: 5 }),
    () => invoices.cancel(kysely, '1', { comment: 'no' }),
    () => invoices.reset(transaction, '1'),
    () => invoices.clean({ query: async () => ({ rows: [], rowCount: 0 }) }, { states: ['failed'] }),
    // @ts-expect-error: a connection string is no connection
    () => invoices.finish('postgres://localhost', '1'),
    // @ts-expect-error: the connection is missing
    () => invoices.finish('1'),
    // @ts-expect-error: no such state
    () => invoices.clean(pool, { states: ['running'] }),
  ]
  expectTypeOf(verbs).toBeArray()
  expectTypeOf<SendInvoice['acquire']>().returns.resolves.toEqualTypeOf<Array<Claimed<Own>>>()
  expectTypeOf<SendInvoice['retry']>().returns.resolves.toEqualTypeOf<TaskState>()
})

it('an id is a string; with onConflict, null where it can not be told which task is there', () => {
  const row = { order_id: '1', email: 'a' }
  const calls = [
    () => invoices.enqueue(pool, row),
    () => invoices.enqueueMany(pool, [row], { delayMs: 5 }),
    () => invoices.enqueue(pool, row, { onConflict: 'ignore' }),
    () => invoices.enqueueMany(pool, [row], { onConflict: 'postpone', delayMs: 5 }),
    (options: EnqueueTaskOptions) => invoices.enqueue(pool, row, options),
    () => invoices.enqueue(pool, row, { onConflict: undefined }),
    // @ts-expect-error: no such way
    () => invoices.enqueue(pool, row, { onConflict: 'skip' }),
    // @ts-expect-error: an unknown option beside a known one
    () => invoices.enqueue(pool, row, { onConflict: 'ignore', delay: 5 }),
  ] as const
  expectTypeOf(calls[0]).returns.resolves.toEqualTypeOf<string>()
  expectTypeOf(calls[1]).returns.resolves.toEqualTypeOf<string[]>()
  expectTypeOf(calls[2]).returns.resolves.toEqualTypeOf<string | null>()
  expectTypeOf(calls[3]).returns.resolves.toEqualTypeOf<Array<string | null>>()
  expectTypeOf(calls[4]).returns.resolves.toEqualTypeOf<string | null>()
  expectTypeOf(calls[5]).returns.resolves.toEqualTypeOf<string>()
})

it('a claimed task, its id in any form, or an object that has both is what verbs take', () => {
  const calls = [
    (claimed: Claimed<Own>) => invoices.finish(pool, claimed),
    (claimed: Claimed<Own>) => invoices.finish(pool, claimed.id),
    () => invoices.finish(pool, { id: 1, run_token: null }),
    // @ts-expect-error: no id
    () => invoices.finish(pool, { run_token: 'x' }),
  ]
  expectTypeOf(calls).toBeArray()
})

it('a transaction gives the connection that it was given', () => {
  const calls = [
    () => inTransaction(pool, async (tx) => tx.release.length),
    () => inTransaction(pool, async (tx) => invoices.finish(tx, '1')),
    () => inTransaction(pool, async (tx) => (await tx.query<{ id: string }>('select id from orders')).rows),
    () => inTransaction(ownPool, async (tx) => tx.own),
    () =>
      inTransaction(kysely, async (tx) => {
        await tx.selectFrom('orders').select('id').execute()
        await invoices.finish(tx, '1')
      }),
    // @ts-expect-error: a Client has nothing to take a connection from
    () => inTransaction(client, async () => {}),
  ] as const
  expectTypeOf(calls[0]).returns.resolves.toEqualTypeOf<number>()
  expectTypeOf(calls[1]).returns.resolves.toEqualTypeOf<void>()
  expectTypeOf(calls[2]).returns.resolves.toEqualTypeOf<Array<{ id: string }>>()
  expectTypeOf(calls[3]).returns.resolves.toEqualTypeOf<'mine'>()
})

it('a worker takes tasks of every type, and its events say what they carry', () => {
  const calls = [
    (worker: Worker) => worker.add(invoices, 4),
    (worker: Worker) => worker.stop({ timeoutMs: 5 }),
    // @ts-expect-error: no Task
    (worker: Worker) => worker.add({ run() {} }),
    // @ts-expect-error: an unknown option
    (worker: Worker) => worker.stop({ timeout: 5 }),
  ]
  expectTypeOf(calls).toBeArray()
  expectTypeOf<WorkerEvents['started']>().toEqualTypeOf<[task: TaskReference]>()
  const listen = (worker: Worker) => {
    worker.on('finished', ({ id, durationMs }) => {
      expectTypeOf(id).toEqualTypeOf<string>()
      expectTypeOf(durationMs).toEqualTypeOf<number>()
    })
    worker.once('failed', ({ reason }) => expectTypeOf(reason).toEqualTypeOf<'error' | 'lost' | 'run_limit'>())
    // @ts-expect-error: no such event
    worker.on('done', () => {})
  }
  expectTypeOf(listen).toBeFunction()
  // @ts-expect-error: an unknown option
  expectTypeOf(() => new Worker({ connectionString: 'postgres://localhost', concurrency: 5 })).toBeFunction()
  // @ts-expect-error: no such time
  expectTypeOf(() => new RetryTask({ delay: 5 })).toBeFunction()
})
