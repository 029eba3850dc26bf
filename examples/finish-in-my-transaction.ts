/**
 * The work and the end of the task are one transaction: both are committed or neither is. Of two runs of the same task, one
 * commits; the other one's finish raises, so its work rolls back.
 */
import { type Claimed, inTransaction, Task, TaskNotRunningError } from '@pg-tasks/client'
import type { Pool } from 'pg'
import { withDatabase } from './with-database.js'

type Transfer = { account: string; amount: string }

class BookTransfer extends Task<Transfer> {
  readonly #pool: Pool

  constructor(pool: Pool) {
    super({ schema: 'bank', table: 'transfer' })
    this.#pool = pool
  }

  override async run(task: Claimed<Transfer>): Promise<void> {
    await inTransaction(this.#pool, async (transaction) => {
      await transaction.query('update bank.accounts set balance = balance + $2 where id = $1', [
        task.account,
        task.amount,
      ])
      await this.finish(transaction, task, { comment: 'booked' })
    })
  }
}

await withDatabase(async ({ pool }) => {
  await pool.query(`
    create schema bank;
    create table bank.accounts (id bigint primary key, balance numeric not null);
    insert into bank.accounts values (7, 100);
    create table bank.transfer (
      like tasks.template including defaults including identity including indexes,
      account bigint not null references bank.accounts,
      amount  numeric not null
    );
    select tasks.register('bank', 'transfer');
  `)
  const bookTransfer = new BookTransfer(pool)
  const id = await bookTransfer.enqueue(pool, { account: '7', amount: '25' })

  // Two runs of one task, as after a process that was suspended for longer than its lease: the task was given to another.
  const [late] = await bookTransfer.acquire(pool)
  await bookTransfer.reset(pool, id)
  const [current] = await bookTransfer.acquire(pool)
  if (late === undefined || current === undefined) throw new Error('Both should have got the task')

  await bookTransfer.run(late).catch((error: unknown) => {
    if (error instanceof TaskNotRunningError) console.log(error.message)
    else throw error
  })
  await bookTransfer.run(current)
  await bookTransfer.run(current).catch((error: Error) => console.log(error.message))

  const { rows } = await pool.query('select balance, comment from bank.accounts, bank.transfer')
  console.log(rows[0])
})

// Output:
// finish: task 1 of bank.transfer is run by another
// finish: task 1 of bank.transfer was finished by this run already
// { balance: '125', comment: 'booked' }
