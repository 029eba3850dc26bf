import type { Queryable, QueryResult } from '@pg-tasks/sql'
import { ClosedError } from '../../errors/connection-errors.js'
import { InvalidArgumentError } from '../../errors/invalid-argument-error.js'

/**
 * Statements that would end the transaction of others, also behind a comment, where some libraries put a trace. `rollback to` is
 * the handler's own affair.
 */
const ENDS_TRANSACTION =
  /^(?:[\s;]|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!(?:\s+(?:work|transaction))?\s+to\b))\b/i

/** A statement as node-postgres takes it with its name. */
interface NamedStatement {
  readonly text: string
  readonly values?: readonly unknown[]
}

/** A transaction of the worker's as one handler has it: until it has ended, one statement after the other. */
export class TaskTransaction implements Queryable {
  readonly #session: Queryable
  readonly #onFirst: () => Promise<unknown>
  #last: Promise<unknown> = Promise.resolve()
  #used = false
  #failed = false
  #over = false

  /** @param onFirst - what is done before the first statement */
  constructor(session: Queryable, onFirst: () => Promise<unknown> = async () => {}) {
    this.#session = session
    this.#onFirst = onFirst
  }

  /** Whether there was a statement. */
  get used(): boolean {
    return this.#used
  }

  /** Whether the last statement failed: the transaction is aborted, whether its handler has noticed or not. */
  get failed(): boolean {
    return this.#failed
  }

  query(statement: string | NamedStatement, given: readonly unknown[] = []): Promise<QueryResult> {
    const { text, values = given } = typeof statement === 'string' ? { text: statement } : statement
    if (this.#over) return refused(new ClosedError('The transaction of this task'))
    const ending = ENDS_TRANSACTION.exec(text)?.[1]
    if (ending !== undefined) {
      const problem = `must not be ${ending}: the transaction is the worker's; throw to take back what was done.`
      return refused(new InvalidArgumentError('statement', problem))
    }
    const result = this.#last.then(() => this.#run(text, values))
    this.#last = result.catch(() => {})
    return result
  }

  /** From now on nothing runs any more; resolves when the statements that were not awaited have ended. */
  async end(): Promise<void> {
    this.#over = true
    await this.#last
  }

  async #run(text: string, values: readonly unknown[]): Promise<QueryResult> {
    if (!this.#used) {
      this.#used = true
      await this.#onFirst()
    }
    try {
      const result = await this.#session.query(text, values)
      this.#failed = false
      return result
    } catch (error) {
      this.#failed = true
      throw error
    }
  }
}

/** A statement that nobody waits for must not end the process. */
function refused(error: Error): Promise<never> {
  const refusal = Promise.reject(error)
  refusal.catch(() => {})
  return refusal
}
