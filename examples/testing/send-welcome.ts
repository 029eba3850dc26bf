import { type Claimed, Task, type TaskContext } from '@pg-tasks/client'
import type { Queryable } from '@pg-tasks/sql'

interface Welcome {
  email: string
}

/** Sends a letter to a new user. */
export class SendWelcome extends Task<Welcome> {
  readonly #connection: Queryable
  readonly #send: (email: string) => Promise<void>

  constructor(connection: Queryable, send: (email: string) => Promise<void>) {
    super()
    this.#connection = connection
    this.#send = send
  }

  override async run({ email }: Claimed<Welcome>, { once }: TaskContext): Promise<void> {
    if (!email.includes('@')) throw new Error(`${email} is no address`)
    await once('letter', () => this.#send(email))
    await this.#connection.query('insert into welcomed (email) values ($1)', [email])
  }
}

/** What the program under test does: a user, and the letter in the same transaction. */
export async function signUp(connection: Queryable, welcome: SendWelcome, email: string): Promise<void> {
  await connection.query('insert into users (email) values ($1)', [email])
  await welcome.enqueue(connection, { email }, { delayMs: 60_000 })
}
