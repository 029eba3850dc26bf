import type { Queryable, QueryResult } from '@pg-tasks/sql'
import { Backoff, type BackoffOptions } from '../backoff/backoff.js'
import { ClosedError, ReadOnlyServerError } from '../errors/connection-errors.js'
import { isReadOnly } from '../errors/is-transient.js'
import { sleep } from '../timers/sleep.js'
import { withDeadline } from '../timers/with-deadline.js'
import type { ConnectionSource, Server } from './connection-source.js'
import { DedicatedClient } from './dedicated-client.js'
import { Session } from './session.js'

/** Settings of a {@link ReconnectingClient}. */
export interface ReconnectingClientOptions {
  /** Where to connect. */
  readonly source: ConnectionSource
  /** The session's name in pg_stat_activity, unless the configuration names it. */
  readonly applicationName: string
  /**
   * Longest time for connecting to one server, in milliseconds.
   * @defaultValue 10000
   */
  readonly connectTimeoutMs?: number
  /**
   * Longest time for one statement, in milliseconds; then the socket is closed. A call may give another.
   * @defaultValue 10000
   */
  readonly statementTimeoutMs?: number
  /**
   * The pause between attempts to connect that failed.
   * @defaultValue 200 ms, doubled up to 3 s
   */
  readonly backoff?: BackoffOptions
  /**
   * Prepares each new session, before any caller's statement runs on it. If it throws, the session is thrown away and the
   * attempt counts as failed.
   */
  readonly onConnect?: ((session: Queryable) => Promise<void>) | undefined
  /** Told once per session that was lost; what the session held (advisory locks) is gone. Must not throw. */
  readonly onDisconnect?: ((reason: Error) => void) | undefined
}

/** How one call on a {@link ReconnectingClient} differs. */
export interface CallOptions {
  /** Longest time for each statement of this call, in milliseconds. */
  readonly deadlineMs?: number
  /** Whether statements are prepared by name; only where the connection is known to be direct. @defaultValue false */
  readonly prepared?: boolean
}

const DEFAULT_BACKOFF: BackoffOptions = { baseMs: 200, maxMs: 3_000 }

/** How long {@link ReconnectingClient.close} lets a statement go on that is running. */
const LAST_STATEMENT_MS = 1_000

/**
 * A connection of our own that mends itself: statements run one after the other, never overlapping; a lost session is replaced
 * at the next call; a server that became read-only is left for another.
 *
 * A call that fails for lack of a connection rejects with a `ConnectionLostError`; it is never repeated by itself,
 * because a statement that was sent may have run.
 */
export class ReconnectingClient implements Queryable {
  readonly #options: ReconnectingClientOptions
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  #connection: DedicatedClient | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #nextAttemptAt = 0
  #sessions = 0

  constructor(options: ReconnectingClientOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.backoff ?? DEFAULT_BACKOFF)
  }

  /** Whether there is a session now. */
  get connected(): boolean {
    return this.#connection !== undefined
  }

  /** Counts the sessions, from 1; compare it to learn whether a lock of the session is still held. 0 before the first. */
  get session(): number {
    return this.#sessions
  }

  /** `host:port` of the server of the session, if there is one. */
  get server(): string | undefined {
    return this.#connection?.server.address
  }

  /** Runs one statement, after those that were asked for before it. */
  query(text: string, values: readonly unknown[] = [], options: CallOptions = {}): Promise<QueryResult> {
    return this.use((session) => session.query(text, values), options)
  }

  /**
   * Runs several statements on one session, with no other call's between them: a transaction, or locks and looks. A session
   * that is left inside a transaction is thrown away.
   */
  use<Value>(work: (session: Queryable) => Promise<Value>, options: CallOptions = {}): Promise<Value> {
    return this.#inTurn(async () => {
      const connection = await this.#connect()
      const deadlineMs = options.deadlineMs ?? this.#options.statementTimeoutMs ?? 10_000
      const session = new Session(connection, deadlineMs, options.prepared)
      try {
        const value = await work(session)
        this.#backoff.reset()
        return value
      } finally {
        await session.end()
        const { failure } = session
        if (isReadOnly(failure)) this.#leave(connection, failure)
        else if (connection.inTransaction) connection.destroy(new Error('A transaction was left open'))
      }
    })
  }

  /** Makes sure that there is a session, without running anything on it. */
  connect(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#connect()
    })
  }

  /**
   * Ends the session. A statement that is running may go on for a second; calls that wait are rejected with a
   * {@link ClosedError}. Nothing is left open, whatever state the network is in.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    try {
      await withDeadline(this.#turn, LAST_STATEMENT_MS, () => new ClosedError('The connection'))
    } catch {
      this.#connection?.destroy(new ClosedError('The connection'))
    }
    const connection = this.#connection
    this.#connection = undefined
    await connection?.end()
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#turn.then(() => {
      this.#refuseIfClosed()
      return work()
    })
    this.#turn = result.then(
      () => {},
      () => {},
    )
    return result
  }

  #refuseIfClosed(): void {
    if (this.#closing.signal.aborted) throw new ClosedError('The connection')
  }

  async #connect(): Promise<DedicatedClient> {
    if (this.#connection !== undefined) return this.#connection
    await sleep(this.#nextAttemptAt - performance.now(), { signal: this.#closing.signal })
    try {
      // Until a caller's statement has succeeded, the next attempt waits: a server may let sessions in and cut them off.
      this.#connection = await this.#openFirstWritable()
      this.#sessions += 1
      return this.#connection
    } finally {
      this.#nextAttemptAt = performance.now() + this.#backoff.next()
    }
  }

  async #openFirstWritable(): Promise<DedicatedClient> {
    const { source } = this.#options
    let failure: unknown
    for (const server of source.servers) {
      this.#refuseIfClosed()
      try {
        const connection = await this.#open(server)
        source.succeeded(server)
        return connection
      } catch (error) {
        failure = error
        source.failed(server)
      }
    }
    throw failure
  }

  async #open(server: Server): Promise<DedicatedClient> {
    const { applicationName, connectTimeoutMs = 10_000, statementTimeoutMs = 10_000, onConnect } = this.#options
    const connection = await DedicatedClient.open(server, {
      applicationName,
      connectTimeoutMs,
      signal: this.#closing.signal,
      onLost: (reason) => this.#onLost(connection, reason),
    })
    if (onConnect === undefined) return connection
    const session = new Session(connection, statementTimeoutMs)
    try {
      await onConnect(session)
      await session.end()
      return connection
    } catch (error) {
      await connection.end()
      throw error
    }
  }

  #leave(connection: DedicatedClient, error: unknown): void {
    this.#options.source.failed(connection.server)
    connection.destroy(new ReadOnlyServerError(connection.server.address, { cause: error }))
  }

  #onLost(connection: DedicatedClient, reason: Error): void {
    // A session that is lost while it is being prepared was never anybody's.
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#options.onDisconnect?.(reason)
  }
}
