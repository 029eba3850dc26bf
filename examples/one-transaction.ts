/**
 * Many short tasks in one transaction: payments are booked by the hundred, each with an outcome of its own. One that the
 * database refuses takes back what it wrote, and is canceled; the others commit together.
 */
import { CancelTask, type Claimed, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Payment = { account: string; amount: number }

class BookPayment extends Task<Payment> {
  constructor() {
    super({ settle: 'one_transaction' })
  }

  override async run(task: Claimed<Payment>, { tx }: TaskContext): Promise<void> {
    await tx.query('insert into bookings values ($1, $2)', [task.account, task.amount])
    const { rowCount } = await tx.query(
      'update accounts set balance = balance - $2 where name = $1 and balance >= $2',
      [task.account, task.amount],
    )
    if (rowCount === 0) throw new CancelTask('not enough money')
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table accounts (name text primary key, balance integer not null);
    insert into accounts values ('Ada', 1000), ('Bob', 50);
    create table bookings (account text not null, amount integer not null);
    create table tasks.book_payment (
      like tasks.template including defaults including identity including indexes,
      account text not null, amount integer not null
    );
    select tasks.register('tasks', 'book_payment');
  `)
  const bookPayment = new BookPayment()
  const payments = Array.from({ length: 200 }, (_, index) => ({ account: index % 2 === 0 ? 'Ada' : 'Bob', amount: 2 }))
  await bookPayment.enqueueMany(pool, payments)

  const worker = new Worker({ connectionString })
  worker.add(bookPayment, 500) // up to 500 tasks in one transaction
  let ended = 0
  const all = new Promise<void>((resolve) => {
    const onEnd = (): void => {
      ended += 1
      if (ended === payments.length) resolve()
    }
    worker.on('finished', onEnd).on('canceled', onEnd)
  })
  const running = worker.run()
  await all
  await worker.stop()
  await running

  const { rows } = await pool.query(
    `select name, balance, count(b.*)::int as bookings from accounts left join bookings b on b.account = name
     group by name, balance order by name`,
  )
  for (const { name, balance, bookings } of rows) console.log(`${name} has ${balance} left after ${bookings} payments`)
  const { rows: refused } = await pool.query(
    'select comment, count(*)::int from tasks.book_payment where canceled group by 1',
  )
  for (const { comment, count } of refused) console.log(`${count} payments were canceled: ${comment}`)
})

// Output:
// Ada has 800 left after 100 payments
// Bob has 0 left after 25 payments
// 75 payments were canceled: not enough money
