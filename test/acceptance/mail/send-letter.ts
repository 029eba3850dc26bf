import { type Claimed, Task, type TaskContext } from '@pg-tasks/client'
import { createTransport, type Transporter } from 'nodemailer'

interface Letter {
  readonly address: string
  readonly subject: string
}

/** The handler of docs/guides/mail-once.md, with the points at which a test may stop it. */
export class SendLetter extends Task<Letter> {
  readonly #transport: Transporter
  readonly #reach: (point: string) => Promise<void>
  readonly #lines: number

  constructor(port: number, reach: (point: string) => Promise<void> = async () => {}, lines = 1) {
    super({ table: 'send_letter' })
    this.#transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
    this.#reach = reach
    this.#lines = lines
  }

  override async run(task: Claimed<Letter>, { once }: TaskContext): Promise<void> {
    await once('send', async ({ idempotencyKey }) => {
      await this.#reach('before the letter is sent')
      await this.#transport.sendMail({
        from: 'shop@example.com',
        to: task.address,
        subject: task.subject,
        text: 'Your order has been sent.\n'.repeat(this.#lines),
        headers: { 'Idempotency-Key': idempotencyKey },
      })
      await this.#reach('after the letter is sent, before the mark')
    })
    await this.#reach('after the mark, before the finish')
  }
}
