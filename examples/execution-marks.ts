/**
 * Steps that are passed by once they are done: the first attempt fails after two of them, the second does only the third. The
 * key by which an outside service recognises a repetition is the same in both.
 */
import { type Claimed, inTransaction, Task, type TaskContext, Worker } from '@pg-tasks/client'
import type { Pool } from 'pg'
import { withDatabase } from './with-database.js'

type Order = { order_id: number }

class ShipOrder extends Task<Order> {
  readonly #pool: Pool
  readonly #keys = new Set<string>()

  constructor(pool: Pool) {
    super()
    this.#pool = pool
  }

  override async run(task: Claimed<Order>, { once, attempt }: TaskContext): Promise<void> {
    console.log(`order ${task.order_id}, attempt ${attempt}`)

    const charge = await once('charge', async ({ idempotencyKey }) => {
      console.log(`  charged, with a key of ${idempotencyKey.length} digits`)
      return { id: 'ch_7', at: new Date('2026-01-02T03:04:05Z') }
    })
    // What comes back is what JSON makes of it, in every attempt: the date is a text.
    console.log(`  charge ${charge.id} of ${charge.at}`)

    await inTransaction(this.#pool, (tx) =>
      once(tx, 'points', async () => {
        await tx.query('update customers set points = points + 1')
        console.log('  points given')
      }),
    )

    await once('label', async ({ idempotencyKey }) => {
      this.#keys.add(idempotencyKey)
      if (attempt === 1) throw new Error('out of paper')
      console.log(`  label printed; ${this.#keys.size} key in ${attempt} attempts`)
    })
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table customers (points integer not null);
    insert into customers values (0);
    create table tasks.ship_order (
      like tasks.template including defaults including identity including indexes,
      order_id integer not null
    );
    select tasks.register('tasks', 'ship_order', backoff_base => '10 ms');
  `)
  const shipOrder = new ShipOrder(pool)
  const worker = new Worker({ connectionString })
  worker.add(shipOrder)
  const finished = new Promise((resolve) => worker.once('finished', resolve))
  const running = worker.run()
  const id = await shipOrder.enqueue(pool, { order_id: 42 })
  await finished
  await worker.stop()
  await running

  const { rows: customers } = await pool.query('select points from customers')
  console.log(`points: ${customers[0].points}`)
  const marks = async (): Promise<string> => {
    const { rows } = await pool.query(
      "select coalesce(string_agg(step, ', ' order by step), 'none') as steps from tasks.marks",
    )
    return rows[0].steps
  }
  console.log(`marks: ${await marks()}`)
  await shipOrder.reset(pool, id, { forgetMarks: true })
  console.log(`marks after a reset that forgets them: ${await marks()}`)
})

// Output:
// order 42, attempt 1
//   charged, with a key of 32 digits
//   charge ch_7 of 2026-01-02T03:04:05.000Z
//   points given
// order 42, attempt 2
//   charge ch_7 of 2026-01-02T03:04:05.000Z
//   label printed; 1 key in 2 attempts
// points: 1
// marks: charge, label, points
// marks after a reset that forgets them: none
