import type { Queryable, QueryResult } from '@pg-tasks/sql'

/** A session whose statements end: a network that swallows what is sent would have them, and their connection, waited for. */
export class BoundedSession implements Queryable {
  readonly #session: Queryable
  readonly #longestMs: number
  #lost: Error | undefined

  /** @param longestMs - of a statement, in milliseconds; after that the session is no more used */
  constructor(session: Queryable, longestMs: number) {
    this.#session = session
    this.#longestMs = longestMs
  }

  async query(text: string, values?: unknown[]): Promise<QueryResult> {
    if (this.#lost !== undefined) throw this.#lost
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#lost = Object.assign(new Error('The database did not answer in time.'), { code: '08006' })
        reject(this.#lost)
      }, this.#longestMs)
    })
    const answer = this.#session.query(text, values)
    // Its connection is given up when it is late; nobody waits for it any more.
    answer.catch(() => {})
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
