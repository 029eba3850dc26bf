import { type Claimed, Task, type Worker } from '@pg-tasks/client'
import { Pool } from 'pg'

interface Greeting {
  name: string
}

const pool = new Pool({ connectionString: process.env.DATABASE_URL })

/** Writes who did what into tasks.greetings; `slow` waits for a row of that table, `exit` ends the process. */
class Greet extends Task<Greeting> {
  override async run({ id, name }: Claimed<Greeting>): Promise<void> {
    if (name === 'fail') throw new Error('no greeting today')
    if (name === 'exit') process.exit(7)
    await pool.query('insert into greetings (task_id, pid) values ($1, $2)', [id, process.pid])
    if (name !== 'slow') return
    while ((await pool.query('select from go')).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export const tasks = [new Greet({ table: 'greet', columns: ['name'] })]

export function configure(worker: Worker): void {
  worker.on('stopped', () => console.log('the worker has stopped'))
}

export async function close(): Promise<void> {
  await pool.end()
  console.log('the module is closed')
}
