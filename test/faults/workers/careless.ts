import { type Claimed, inTransaction, Task, Worker } from '@pg-tasks/client'
import { Pool } from 'pg'

// A program that attaches no handler to anything but where PostgreSQL's own pool wants one.
const connectionString = process.env.DATABASE_URL as string
const pool = new Pool({ connectionString, max: 2 })
pool.on('error', () => {})

class Careless extends Task<{ what: string }> {
  override async run(task: Claimed<{ what: string }>): Promise<void> {
    if (task.what === 'floats') void Promise.reject(new Error('nobody waits for this'))
    if (task.what === 'holds a connection') {
      await inTransaction(pool, async (tx) => {
        console.log(`started ${task.execution_count}`)
        await tx.query('select pg_sleep(0.5)')
        await this.finish(tx, task)
      })
    }
    console.log(`done ${task.id}`)
  }
}

if (process.env.NOTES_REJECTIONS === 'yes') {
  process.on('unhandledRejection', (error) => console.log(`unhandled: ${(error as Error).message}`))
}
const worker = new Worker({ connectionString, pollIntervalMs: 60_000 })
worker.add(new Careless())
await worker.run()
await pool.end()
process.disconnect?.()
