import { Task } from '@pg-tasks/client'
import { Pool } from 'pg'

const { DATABASE_URL = '', TABLE = '' } = process.env

class Canceled extends Task {
  override async run(): Promise<void> {}
}

/** Cancels or resets what the test names, and tells when it began to. */
const pool = new Pool({ connectionString: DATABASE_URL, max: 1 })
const task = new Canceled({ table: TABLE })
process.on('message', ({ verb, id }: { verb: 'cancel' | 'reset'; id: string }) => {
  const at = performance.timeOrigin + performance.now()
  void task[verb](pool, id).then((found) => process.send?.({ at, found }))
})
await pool.query('select 1')
process.send?.('ready')
