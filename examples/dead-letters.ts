/**
 * Tasks that failed for good: listed, counted, reset by a condition; and passed on to another type in the statement that fails
 * them, whose worker does what is to be done about it.
 */
import { type Claimed, Task, Worker } from '@pg-tasks/client'
import { withDatabase } from './with-database.js'

type Invoice = { email: string }
type Letter = { email: string; failed_id: string; failed_reason: string; failed_error: string | null }

class SendInvoice extends Task<Invoice> {
  #down = true

  mend(): void {
    this.#down = false
  }

  override async run(task: Claimed<Invoice>): Promise<void> {
    if (this.#down) throw new Error(`no such host for ${task.email}`)
    console.log(`sent to ${task.email}`)
  }
}

class TellSupport extends Task<Letter> {
  override async run(task: Claimed<Letter>): Promise<void> {
    const [error] = (task.failed_error ?? '').split('\n')
    console.log(`support hears: invoice ${task.failed_id} for ${task.email}, ${task.failed_reason}, ${error}`)
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.send_invoice (
      like tasks.template including defaults including identity including indexes,
      email text not null
    );
    create table tasks.tell_support (
      like tasks.template including defaults including identity including indexes,
      email text, failed_id bigint not null, failed_reason text not null, failed_error text
    );
    select tasks.register('tasks', 'send_invoice', max_retries => 0);
    select tasks.register('tasks', 'tell_support');
  `)
  const [sendInvoice, tellSupport] = [new SendInvoice(), new TellSupport()]
  await sendInvoice.setOnFailure(pool, tellSupport)

  const worker = new Worker({ connectionString })
  worker.add(sendInvoice).add(tellSupport)
  const finished = (count: number): Promise<void> =>
    new Promise((resolve) => {
      let seen = 0
      const onFinished = (): void => {
        seen += 1
        if (seen < count) return
        worker.off('finished', onFinished)
        resolve()
      }
      worker.on('finished', onFinished)
    })
  const running = worker.run()
  const told = finished(3)
  for (const email of ['ann@example.com', 'bob@example.net', 'eve@example.com'])
    await sendInvoice.enqueue(pool, { email })
  await told

  const [newest] = await sendInvoice.failed(pool, { limit: 1 })
  console.log(`the last that failed: ${newest?.id}, ${newest?.reason}, ${newest?.attempts} attempt`)
  const where = `email like '%example.com'`
  console.log(`of example.com: ${await sendInvoice.resetFailed(pool, { where, preview: true })}`)
  sendInvoice.mend()
  const sent = finished(2)
  console.log(`reset: ${await sendInvoice.resetFailed(pool, { where })}`)
  await sent
  console.log(`still failed: ${await sendInvoice.resetFailed(pool, { preview: true })}`)
  await worker.stop()
  await running
})

// Output:
// support hears: invoice 1 for ann@example.com, error, Error: no such host for ann@example.com
// support hears: invoice 2 for bob@example.net, error, Error: no such host for bob@example.net
// support hears: invoice 3 for eve@example.com, error, Error: no such host for eve@example.com
// the last that failed: 3, error, 1 attempt
// of example.com: 2
// reset: 2
// sent to ann@example.com
// sent to eve@example.com
// still failed: 1
