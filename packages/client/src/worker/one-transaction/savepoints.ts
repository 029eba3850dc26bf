import type { Queryable } from '@pg-tasks/sql'

/**
 * The savepoints of a batch, of which one stands at a time. Each has another name: one that could not be made must not be taken
 * for the one before it.
 */
export class Savepoints {
  readonly #session: Queryable
  #count = 0
  #open = false

  constructor(session: Queryable) {
    this.#session = session
  }

  /** Makes a savepoint unless there is an open one. */
  async ensure(): Promise<void> {
    if (this.#open) return
    this.#open = true
    const release = this.#count === 0 ? '' : `release savepoint pg_tasks_${this.#count}; `
    this.#count += 1
    await this.#session.query(`${release}savepoint pg_tasks_${this.#count}`)
  }

  /** Takes back what was done since the open one, which stays. */
  async rollBack(): Promise<void> {
    await this.#session.query(`rollback to savepoint pg_tasks_${this.#count}`)
  }

  /** What was done stays: the next one is made anew. */
  close(): void {
    this.#open = false
  }
}
