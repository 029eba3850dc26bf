/**
 * A mail that is sent once: the worker is stopped dead in the gap, after the mail server has accepted the letter and before the
 * mark is written. Another worker sends it again with the same key, by which the receiving side recognises it.
 */
import type { AddressInfo } from 'node:net'
import { type Claimed, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { createTransport, type Transporter } from 'nodemailer'
import { SMTPServer } from 'smtp-server'
import { withDatabase } from './with-database.js'

type Letter = { address: string }

/** A mail server that delivers a letter with a key that it knows no second time. */
class MailServer {
  readonly #keys = new Set<string>()
  readonly #server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, session, done) => {
      let text = ''
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      stream.on('end', () => {
        const key = /^Idempotency-Key: (\w+)/m.exec(text)?.[1] ?? ''
        const recipient = session.envelope.rcptTo[0]?.address
        console.log(this.#keys.has(key) ? `recognised: ${recipient} has it` : `delivered to ${recipient}`)
        this.#keys.add(key)
        done()
      })
    },
  })

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.server.address() as AddressInfo).port
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(resolve))
  }
}

class SendLetter extends Task<Letter> {
  readonly #transport: Transporter
  /** Where a process may die: a promise that never ends is as good as that. */
  readonly #inTheGap: () => Promise<void>

  constructor(port: number, inTheGap: () => Promise<void>) {
    super()
    this.#transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
    this.#inTheGap = inTheGap
  }

  override async run(task: Claimed<Letter>, { once }: TaskContext): Promise<void> {
    await once('send', async ({ idempotencyKey }) => {
      await this.#transport.sendMail({
        from: 'shop@example.com',
        to: task.address,
        subject: 'Your order',
        text: 'It has been sent.',
        headers: { 'Idempotency-Key': idempotencyKey },
      })
      await this.#inTheGap()
    })
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table tasks.send_letter (
      like tasks.template including defaults including identity including indexes,
      address text not null
    );
    select tasks.register('tasks', 'send_letter');
  `)
  const mail = new MailServer()
  const port = await mail.listen()

  let stopHere: () => void = () => {}
  const inTheGap = new Promise<void>((resolve) => {
    stopHere = resolve
  })
  const first = new Worker({ connectionString, abortGraceMs: 0 })
  const sendLetter = new SendLetter(port, () => {
    stopHere()
    return new Promise<void>(() => {})
  })
  first.add(sendLetter)
  const firstRun = first.run()
  await sendLetter.enqueue(pool, { address: 'ann@example.com' })
  await inTheGap
  await first.stop({ timeoutMs: 0 })
  await firstRun
  console.log('the first worker is gone, and the letter has no mark')
  // What the end of its lease would do a minute later.
  await pool.query('update tasks.leases set leased_until = now()')

  const second = new Worker({ connectionString })
  second.add(new SendLetter(port, async () => {}))
  const finished = new Promise((resolve) => second.once('finished', resolve))
  const secondRun = second.run()
  await finished
  await second.stop()
  await secondRun
  await mail.close()
  const { rows } = await pool.query('select step, attempt from tasks.marks')
  console.log(`marked: ${rows[0].step}, by attempt ${rows[0].attempt}`)
})

// Output:
// delivered to ann@example.com
// the first worker is gone, and the letter has no mark
// recognised: ann@example.com has it
// marked: send, by attempt 2
