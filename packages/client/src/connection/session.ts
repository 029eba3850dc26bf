import type { Queryable, QueryResult } from '@pg-tasks/sql'
import { ClosedError } from '../errors/connection-errors.js'
import type { DedicatedClient } from './dedicated-client.js'

/** One caller's turn on a connection: statements that it doesn't await run one after the other all the same. */
export class Session implements Queryable {
  readonly #connection: DedicatedClient
  readonly #deadlineMs: number
  readonly #prepared: boolean
  #last: Promise<unknown> = Promise.resolve()
  #failure: unknown
  #over = false

  constructor(connection: DedicatedClient, deadlineMs: number, prepared = false) {
    this.#connection = connection
    this.#deadlineMs = deadlineMs
    this.#prepared = prepared
  }

  /** With what the last statement that failed did so; what the caller throws may be about anything. */
  get failure(): unknown {
    return this.#failure
  }

  query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
    if (this.#over) return Promise.reject(new ClosedError('The session'))
    const result = this.#last.then(() => this.#connection.query(text, values, this.#deadlineMs, this.#prepared))
    this.#last = result.catch((error: unknown) => {
      this.#failure = error
    })
    return result
  }

  /** Ends the turn, when the statements that were not awaited have ended too. */
  async end(): Promise<void> {
    this.#over = true
    await this.#last
  }
}
