import { type Claimed, Task, type TaskContext, Worker } from '@pg-tasks/client'

type Payment = { what: string }

const { DATABASE_URL: connectionString, TABLE: table = 'payments', SIZE = '100', HANGS = 'yes' } = process.env

/** Each payment writes a row in its batch's transaction; what it does besides stands in its own. */
class Payments extends Task<Payment> {
  override async run(task: Claimed<Payment>, { tx }: TaskContext): Promise<void> {
    await tx.query('insert into effects (of, task_id, pid) values ($1, $2, $3)', [table, task.id, process.pid])
    if (task.what === 'kill') process.kill(process.pid, 'SIGKILL')
    if (task.what === 'hang' && HANGS === 'yes') {
      console.log(`hangs ${task.id}`)
      await new Promise(() => {})
    }
  }
}

const worker = new Worker({ connectionString: connectionString as string, pollIntervalMs: 60_000 })
worker.add(new Payments({ table, settle: 'one_transaction' }), Number(SIZE))
worker.on('ready', () => console.log('ready'))
await worker.run()
