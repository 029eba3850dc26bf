import { type Claimed, inTransaction, Task, Worker } from '@pg-tasks/client'
import { migrate } from '@pg-tasks/sql'
import { Pool } from 'pg'

const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost/shop'
const pool = new Pool({ connectionString })
await migrate(pool)
await pool.query(`
  create table tasks.send_invoice (
    like tasks.template including defaults including identity including indexes,
    order_id bigint not null, email text not null);
  select tasks.register('tasks', 'send_invoice');
  create table invoices (order_id bigint primary key, email text not null)`)

type Invoice = { order_id: string; email: string }

class SendInvoice extends Task<Invoice> {
  override async run(task: Claimed<Invoice>) {
    await inTransaction(pool, async (tx) => {
      await tx.query('insert into invoices values ($1, $2)', [task.order_id, task.email])
      await this.finish(tx, task) // commits with the insert, or not at all
    })
    console.log(`Invoice for order ${task.order_id} sent to ${task.email}`)
  }
}

const sendInvoice = new SendInvoice()
await sendInvoice.enqueue(pool, { order_id: '42', email: 'ann@example.com' })
const worker = new Worker({ connectionString })
worker.add(sendInvoice, 4).once('finished', () => worker.stop())
await worker.run() // until worker.stop() or SIGTERM
await pool.end()

// Output:
// Invoice for order 42 sent to ann@example.com
