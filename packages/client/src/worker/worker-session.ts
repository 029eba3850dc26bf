import { prepareSession, type Queryable, type QueryResult } from '@pg-tasks/sql'
import type { ConnectionSource } from '../connection/connection-source.js'
import { ReconnectingClient } from '../connection/reconnecting-client.js'

/** How long a statement of the worker's own waits for a lock before it is tried again, in milliseconds. */
const LOCK_TIMEOUT_MS = 2_000

/** Longest answer, in milliseconds; after it the connection counts as dead. */
const STATEMENT_TIMEOUT_MS = 15_000

/**
 * A session of the worker's own. Once notifications were seen to arrive, the connection is known to be direct, and the session
 * is made independent of the settings of role and database; behind a transaction pooler that would reach other people's
 * sessions.
 */
export class WorkerSession implements Queryable {
  readonly #client: ReconnectingClient
  readonly #direct: () => boolean
  #preparedSession = 0

  constructor(source: ConnectionSource, applicationName: string, direct: () => boolean) {
    this.#client = new ReconnectingClient({ source, applicationName, statementTimeoutMs: STATEMENT_TIMEOUT_MS })
    this.#direct = direct
  }

  /** Changes with every new session: what the last one held is gone. 0 while there is none. */
  get session(): number {
    return this.#client.connected ? this.#client.session : 0
  }

  query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
    return this.#client.use(async (session) => {
      if (this.#preparedSession !== this.#client.session && this.#direct()) {
        await prepareSession(session as Queryable, { lockTimeoutMs: LOCK_TIMEOUT_MS })
        this.#preparedSession = this.#client.session
      }
      return session.query(text, values)
    })
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}
