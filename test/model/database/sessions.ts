import { once } from 'node:events'
import { type Client, DatabaseError } from 'pg'
import { pidOf } from '../../integration/sql/wait-until-blocked.js'
import type { TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import type { Question } from './question.js'

/** What a session was told. */
export type Told = { readonly rows: readonly unknown[]; readonly command: string } | { readonly refused: string }

/** After which an answer that doesn't come is asked for. */
const SOON_MS = 500
const LATE_MS = 20_000

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

  ask(session: number, question: Question): void {
    const told = tell(this.#client(session), question)
    told.catch(() => {}) // told by whoever awaits it
    this.#open.set(session, told)
  }

  /** @throws if it waits for something */
  async told(session: number): Promise<Told> {
    const told = this.#open.get(session)
    if (told === undefined) throw new Error(`Session ${session} was not asked anything.`)
    const answer = await within(told, { timeoutMs: SOON_MS }).catch(async (error: unknown) => {
      if (await this.#isBlocked(session)) throw new Error('It waits where the model says that nothing is waited for.')
      if (error instanceof DatabaseError) throw error
      return await within(told, { timeoutMs: LATE_MS, what: 'an answer' })
    })
    this.#open.delete(session)
    return answer
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

/** The server tells of an error before it frees what the transaction held; only when it is ready again, all is as it will stay. */
async function tell(client: Client, { text, values }: Question): Promise<Told> {
  const ready = once(client, 'drain')
  ready.catch(() => {})
  try {
    const { rows, command } = await client.query(text, [...values])
    return { rows, command }
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code?.startsWith('TQ'))) throw error
    await ready
    return { refused: error.code }
  }
}
