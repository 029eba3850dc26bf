import { inTransaction, Task, Worker } from '@pg-tasks/client'
import { migrate, register } from '@pg-tasks/sql'
import pg from 'pg'

const connectionString = process.env.DATABASE_URL
const pool = new pg.Pool({ connectionString })
await migrate(pool)
await pool.query(`
  create table tasks.greet (
    like tasks.template including defaults including identity including indexes,
    name text not null);
  create table greetings (text text not null)`)
await register(pool, 'tasks', 'greet', { maxRetries: 1 })

class Greet extends Task {
  async run(task, { attempt }) {
    await inTransaction(pool, async (tx) => {
      await tx.query('insert into greetings values ($1)', [`Hello ${task.name}, attempt ${attempt}`])
      await this.finish(tx, task)
    })
  }
}

const greet = new Greet()
await greet.enqueue(pool, { name: 'Ann' })
const worker = new Worker({ connectionString })
worker.add(greet, 2).once('finished', () => worker.stop())
await worker.run()
const { rows } = await pool.query('select text from greetings')
console.log(rows.map(({ text }) => text).join('\n'))
await pool.end()
