import { inShortTransaction, prepareSession, type Queryable, type QueryResult } from '@pg-tasks/sql'
import type { ConnectionSource } from '../connection/connection-source.js'
import { ReconnectingClient } from '../connection/reconnecting-client.js'
import type { DatabaseWatch } from './database-watch.js'

/** How long a statement of the worker's own waits for a lock before it is tried again, in milliseconds. */
const LOCK_TIMEOUT_MS = 2_000

/** Longest answer, in milliseconds; after it the connection counts as dead. */
const STATEMENT_TIMEOUT_MS = 15_000

export interface WorkerSessionOptions {
  readonly applicationName: string
  /** Whether the connection is known to be direct. */
  readonly direct: () => boolean
  /** Told what becomes of the calls. */
  readonly watch: DatabaseWatch
  /** Told when a session is lost, and with it what it held. */
  readonly onLost?: (() => void) | undefined
}

/**
 * A session of the worker's own. Once notifications were seen to arrive, the connection is known to be direct, and the session
 * is made independent of the settings of role and database, and prepares its statements; behind a transaction pooler that would
 * reach other people's sessions.
 */
export class WorkerSession implements Queryable {
  readonly #client: ReconnectingClient
  readonly #direct: () => boolean
  readonly #watch: DatabaseWatch
  #preparedSession = 0
  #keptOpen = false
  #closed = false
  #opening = false

  constructor(source: ConnectionSource, { applicationName, direct, watch, onLost }: WorkerSessionOptions) {
    this.#client = new ReconnectingClient({
      source,
      applicationName,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      onDisconnect: () => {
        onLost?.()
        void this.#open()
      },
    })
    this.#direct = direct
    this.#watch = watch
  }

  /** Changes with every new session: what the last one held is gone. 0 while there is none. */
  get session(): number {
    return this.#client.connected ? this.#client.session : 0
  }

  /**
   * Connects, and again whenever the session is lost: a connection that were made only when it is needed might then find all
   * of the server's taken.
   */
  keepOpen(): void {
    this.#keptOpen = !this.#closed
    void this.#open()
  }

  query(text: string, values: readonly unknown[] = []): Promise<QueryResult> {
    return this.#use((session) => session.query(text, values))
  }

  /** Runs several statements as one transaction; other calls wait meanwhile. */
  transaction<Value>(work: (session: Queryable) => Promise<Value>): Promise<Value> {
    return this.#use((session, endWatch) => {
      // What happens between its statements may be a handler of the user's, which takes its time and throws what it likes.
      endWatch()
      const watched: Queryable = {
        query: (text, values) => this.#watch.watch(() => session.query(text, values)),
      }
      return inShortTransaction(watched, () => work(watched))
    })
  }

  #use<Value>(work: (session: Queryable, endWatch: () => void) => Promise<Value>): Promise<Value> {
    const direct = this.#direct()
    return this.#watch.watch((endWatch) =>
      this.#client.use(
        async (session) => {
          if (direct && this.#preparedSession !== this.#client.session) {
            await prepareSession(session, { lockTimeoutMs: LOCK_TIMEOUT_MS })
            this.#preparedSession = this.#client.session
          }
          return work(session, endWatch)
        },
        { prepared: direct },
      ),
    )
  }

  close(): Promise<void> {
    this.#closed = true
    this.#keptOpen = false
    return this.#client.close()
  }

  /** The client pauses between attempts; what fails is told by those who use the session. */
  async #open(): Promise<void> {
    if (this.#opening) return
    this.#opening = true
    while (this.#keptOpen && this.session === 0) {
      // Where it can, it prepares the session too, which idle_session_timeout would end otherwise.
      const opened = this.#direct() ? this.#use(async () => {}) : this.#watch.watch(() => this.#client.connect())
      await opened.catch(() => {})
    }
    this.#opening = false
  }
}
