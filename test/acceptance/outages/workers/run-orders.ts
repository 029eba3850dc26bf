import { type Claimed, inTransaction, type PoolLike, Task, Worker } from '@pg-tasks/client'
import { PrimaryPool } from '../../../chaos/load/primary-pool.js'

const urls = (process.env.DATABASE_URLS as string).split(' ')
const primary = new PrimaryPool(urls, 'orders', 5)
const pool: PoolLike = {
  connect: () => primary.connect(),
  query: (text, values) => primary.use((client) => client.query(text, values && [...values])),
}

/** Writes one effect, in the transaction that finishes the order; says so once it is committed. */
class Orders extends Task<object> {
  override async run(task: Claimed<object>): Promise<void> {
    await inTransaction(pool, async (tx) => {
      await tx.query('insert into effects (task_id, pid) values ($1, $2)', [task.id, process.pid])
      await this.finish(tx, task)
    })
    console.log(`done ${task.id}`)
  }
}

const worker = new Worker({ connectionString: urls, pollIntervalMs: 5_000 })
worker.add(new Orders(), 4)
worker.on('ready', () => console.log('ready'))
await worker.run()
await primary.end()
process.disconnect?.()
