import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { SMTPServer } from 'smtp-server'
import { onTestFinished } from 'vitest'

/** A letter that arrived as a whole. */
export interface Letter {
  readonly key: string
  readonly subject: string
}

/** Where a server can be stopped in its tracks. */
export interface MailHooks {
  /** The first bytes of a letter are there; nothing more is read until it resolves. */
  readonly onBegun?: () => Promise<void>
  /** The letter is accepted, and the sender hasn't been told. */
  readonly onAccepted?: (letter: Letter) => Promise<void>
}

/** A real SMTP server that honours idempotency keys: what it has delivered before, it accepts and doesn't deliver again. */
export class MailServer {
  /** What reached the recipient. */
  readonly delivered: Letter[] = []
  /** What was recognised as a repetition. */
  readonly repeated: Letter[] = []
  readonly #server: SMTPServer
  readonly #hooks: MailHooks

  private constructor(hooks: MailHooks) {
    this.#hooks = hooks
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      logger: false,
      closeTimeout: 100,
      onData: (stream, _session, callback) => {
        this.#receive(stream).then(
          () => callback(),
          (error: unknown) => callback(error as Error),
        )
      },
    })
    // Senders are killed.
    this.#server.on('error', () => {})
  }

  /** Listens until the test has ended. */
  static async start(hooks: MailHooks): Promise<MailServer> {
    const mail = new MailServer(hooks)
    await new Promise<void>((resolve) => mail.#server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => new Promise<void>((resolve) => mail.#server.close(resolve)))
    return mail
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port
  }

  async #receive(stream: Readable): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of stream) {
      if (chunks.length === 0) await this.#hooks.onBegun?.()
      chunks.push(chunk as Buffer)
    }
    const letter = readLetter(Buffer.concat(chunks).toString())
    const known = this.delivered.some(({ key }) => key === letter.key)
    if (known) this.repeated.push(letter)
    else this.delivered.push(letter)
    await this.#hooks.onAccepted?.(letter)
  }
}

function readLetter(text: string): Letter {
  const header = (name: string): string => new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1] ?? ''
  return { key: header('Idempotency-Key'), subject: header('Subject') }
}
