import { type Claimed, Task, type TaskContext, type TaskOptions } from '@pg-tasks/client'
import type { Pool } from 'pg'
import { createTaskType, type TaskTypeOptions } from '../../support/task-type.js'

export interface Payment {
  readonly amount: number
}

export type PaymentHandler = (task: Claimed<Payment>, context: TaskContext, self: Task<Payment>) => unknown

/** A task that books its amount in its batch's transaction, and does what a test wants besides. */
export class Book extends Task<Payment> {
  readonly seen: string[] = []
  readonly #handler: PaymentHandler

  constructor(table: string, handler: PaymentHandler = () => {}, options: TaskOptions = {}) {
    super({ table, settle: 'one_transaction', ...options })
    this.#handler = handler
  }

  override async run(task: Claimed<Payment>, context: TaskContext): Promise<void> {
    this.seen.push(task.id)
    await context.tx.query('insert into bookings (of, task_id, amount) values ($1, $2, $3)', [
      this.options.table,
      task.id,
      task.amount,
    ])
    await this.#handler(task, context, this)
  }
}

export async function createBookings(pool: Pool): Promise<void> {
  await pool.query(
    `create table if not exists bookings (
       of text not null, task_id bigint not null, amount integer not null, xid text not null default pg_current_xact_id()::text)`,
  )
}

/** A task type of that name with tasks of the amounts 1 to `count`. */
export async function createPayments(
  pool: Pool,
  table: string,
  count: number,
  options: TaskTypeOptions = {},
): Promise<void> {
  await createTaskType(pool, table, {
    columns: 'amount integer not null',
    backoffBase: '1 hour',
    backoffMax: '1 hour',
    ...options,
  })
  await pool.query(`insert into tasks.${table} (amount) select g from generate_series(1, $1) g`, [count])
}

/** The amounts that were booked, in order, and in how many transactions. */
export async function bookingsOf(pool: Pool, table: string): Promise<{ amounts: number[]; transactions: number }> {
  const { rows } = await pool.query(
    `select coalesce(array_agg(amount order by amount), '{}') as amounts, count(distinct xid)::int as transactions
     from bookings where of = $1`,
    [table],
  )
  return rows[0]
}
