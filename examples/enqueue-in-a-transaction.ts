/** A task that is enqueued in a transaction is there when the transaction commits, and was never there if it rolls back. */
import { type Claimed, inTransaction, Task, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Order = { order_id: string }

class ShipOrder extends Task<Order> {
  override async run(task: Claimed<Order>): Promise<void> {
    console.log(`order ${task.order_id} is shipped`)
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table orders (id bigint primary key, paid boolean not null check (paid));
    create table tasks.ship_order (
      like tasks.template including defaults including identity including indexes,
      order_id bigint not null references orders
    );
    select tasks.register('tasks', 'ship_order');
  `)
  const shipOrder = new ShipOrder()

  const place = (id: string, paid: boolean): Promise<void> =>
    inTransaction(pool, async (transaction) => {
      await transaction.query('insert into orders (id, paid) values ($1, true)', [id])
      await shipOrder.enqueue(transaction, { order_id: id })
      await transaction.query('update orders set paid = $2 where id = $1', [id, paid])
    })

  const worker = new Worker({ connectionString })
  worker.add(shipOrder)
  const finished = new Promise((resolve) => worker.once('finished', resolve))
  const running = worker.run()

  await place('1', false).catch((error: Error) => console.log(`order 1 is not placed: ${error.message}`))
  await place('2', true)
  await finished
  await worker.stop()
  await running

  const { rows } = await pool.query('select total, finished from tasks.stats_of_tasks_ship_order')
  console.log(rows[0])
})

// Output:
// order 1 is not placed: new row for relation "orders" violates check constraint "orders_paid_check"
// order 2 is shipped
// { total: '1', finished: '1' }
