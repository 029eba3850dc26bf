import { type Client, DatabaseError } from 'pg'
import { pidOf } from '../../integration/sql/wait-until-blocked.js'
import type { TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import type { Question } from './question.js'

/** What a session was told. */
export type Told = { readonly rows: readonly unknown[]; readonly command: string } | { readonly refused: string }

/** The sessions of the trials. One asks one question at a time; asking doesn't wait for what is told. */
export class Sessions {
  readonly #database: TestDatabase
  readonly #control: Client
  readonly #clients: Client[]
  readonly #open = new Map<number, Promise<Told>>()

  private constructor(database: TestDatabase, control: Client, clients: Client[]) {
    this.#database = database
    this.#control = control
    this.#clients = clients
  }

  static async open(database: TestDatabase, control: Client, count: number): Promise<Sessions> {
    const clients = await Promise.all(Array.from({ length: count }, () => database.client()))
    return new Sessions(database, control, clients)
  }

  ask(session: number, { text, values }: Question): void {
    const told = this.#client(session)
      .query(text, [...values])
      .then(
        ({ rows, command }): Told => ({ rows, command }),
        (error: unknown): Told => {
          if (error instanceof DatabaseError && error.code?.startsWith('TQ')) return { refused: error.code }
          throw error
        },
      )
    told.catch(() => {}) // told by whoever awaits it
    this.#open.set(session, told)
  }

  /** @throws if it isn't told soon: it waits for something */
  async told(session: number): Promise<Told> {
    const told = this.#open.get(session)
    if (told === undefined) throw new Error(`Session ${session} was not asked anything.`)
    this.#open.delete(session)
    return await within(told, { timeoutMs: 10_000, what: 'an answer where the model says that nothing is waited for' })
  }

  /** Resolves when the session waits for a lock; what it is told instead, if it doesn't. */
  async waits(session: number): Promise<Told | undefined> {
    let told: Told | undefined
    this.#open.get(session)?.then(
      (value) => {
        told = value
      },
      () => {},
    )
    await waitFor(async () => told !== undefined || (await this.#isBlocked(session)), { what: 'a session to wait' })
    return told
  }

  /** Cuts the session's connection and makes another. */
  async cut(session: number): Promise<void> {
    const client = this.#client(session)
    await this.#control.query('select pg_terminate_backend($1, 5000)', [pidOf(client)])
    await client.end().catch(() => {})
    this.#clients[session] = await this.#database.client()
  }

  /** As if nobody had ever asked them anything. */
  async reset(): Promise<void> {
    for (const session of this.#open.keys()) await this.cut(session)
    this.#open.clear()
    await Promise.all(this.#clients.map((client) => client.query('rollback; select pg_advisory_unlock_all()')))
  }

  async #isBlocked(session: number): Promise<boolean> {
    const { rows } = await this.#control.query('select cardinality(pg_blocking_pids($1)) > 0 as blocked', [
      pidOf(this.#client(session)),
    ])
    return rows[0].blocked
  }

  #client(session: number): Client {
    const client = this.#clients[session]
    if (client === undefined) throw new Error(`There is no session ${session}.`)
    return client
  }
}
