import type { QueryResult } from '@pg-tasks/sql'
import type { Client, QueryConfig } from 'pg'
import { ConnectionLostError, ReadOnlyServerError } from '../errors/connection-errors.js'
import { isConnectionLost } from '../errors/is-transient.js'
import { withDeadline } from '../timers/with-deadline.js'
import { cancelStatement } from './cancel-statement.js'
import type { Server } from './connection-source.js'
import { createClient } from './create-client.js'
import { PreparedStatements } from './prepared-statements.js'
import { watchReadOnly } from './read-only.js'

/** How a connection of our own is made. */
export interface DedicatedClientOptions {
  readonly applicationName: string
  /** Longest time for connecting, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Ends an attempt to connect. */
  readonly signal?: AbortSignal
  /** Called once if the connection ends without {@link DedicatedClient.end}. */
  readonly onLost: (reason: Error) => void
}

/** How long a goodbye to the server may take before the socket is closed without one. */
const GOODBYE_MS = 500

/** One connection of our own, from the first byte to the last: it is made, used, lost or ended, and never comes back. */
export class DedicatedClient {
  readonly server: Server
  readonly #client: Client
  readonly #destroySocket: () => void
  readonly #onLost: (reason: Error) => void
  readonly #ended: Promise<void>
  readonly #prepared = new PreparedStatements()
  #connected = false
  #running = false
  #canceling: Promise<void> | undefined
  #lost: Error | undefined
  #ending = false

  private constructor(server: Server, options: DedicatedClientOptions, onReadOnly: (client: Client) => void) {
    const { client, destroy } = createClient(server.config, options.applicationName)
    onReadOnly(client)
    this.server = server
    this.#client = client
    this.#destroySocket = destroy
    this.#onLost = options.onLost
    client.on('error', (error: Error) => this.#lose(error))
    this.#ended = new Promise((resolve) => {
      client.once('end', () => {
        this.#lose(new Error('Connection ended'))
        resolve()
      })
    })
  }

  /**
   * Connects.
   *
   * @throws ConnectionLostError if it can't, ReadOnlyServerError if the server is a standby
   */
  static async open(server: Server, options: DedicatedClientOptions): Promise<DedicatedClient> {
    let readOnly = (): boolean => false
    const connection = new DedicatedClient(server, options, (client) => {
      readOnly = watchReadOnly(client)
    })
    const giveUp = (): void => connection.#destroySocket()
    options.signal?.addEventListener('abort', giveUp, { once: true })
    try {
      await withDeadline(connection.#client.connect(), options.connectTimeoutMs, () => new Error('timeout expired'))
    } catch (error) {
      connection.#ending = true
      connection.#destroySocket()
      throw new ConnectionLostError(`Can't connect to ${server.address}: ${messageOf(error)}`, { cause: error })
    } finally {
      options.signal?.removeEventListener('abort', giveUp)
    }
    // The server's farewell can come in one piece with its welcome, before anybody holds the connection.
    if (connection.#lost !== undefined) throw connection.#lostError(connection.#lost, false)
    if (readOnly()) {
      await connection.end()
      throw new ReadOnlyServerError(server.address)
    }
    connection.#connected = true
    return connection
  }

  /** Whether a transaction was left open; the next statement would run inside it. */
  get inTransaction(): boolean {
    const status = this.#client.getTransactionStatus()
    return status !== null && status !== 'I'
  }

  /**
   * Runs one statement; the caller sees to it that none overlap.
   *
   * @param deadlineMs - after it the socket is closed: an answer that comes late must not be taken for the next statement's
   * @param prepared - whether it is prepared by name, which only a direct connection keeps
   */
  async query(text: string, values: readonly unknown[], deadlineMs: number, prepared = false): Promise<QueryResult> {
    if (!prepared || values.length === 0) return this.#query({ text, values: [...values] }, deadlineMs)
    const name = this.#prepared.nameOf(text)
    try {
      return await this.#query({ text, values: [...values], ...(name === undefined ? {} : { name }) }, deadlineMs)
    } catch (error) {
      // Inside a transaction the error has ended it.
      if (!this.#prepared.isOutdated(text, error) || this.inTransaction) throw error
      return this.#query({ text, values: [...values] }, deadlineMs)
    }
  }

  async #query(statement: QueryConfig, deadlineMs: number): Promise<QueryResult> {
    if (this.#lost !== undefined) throw this.#lostError(this.#lost, false)
    this.#running = true
    try {
      return await withDeadline(this.#client.query(statement), deadlineMs, () => {
        this.destroy(new Error(`No answer within ${deadlineMs} ms`))
        return new Error('Query read timeout')
      })
    } catch (error) {
      if (this.#lost === undefined && !isConnectionLost(error)) throw error
      this.#lose(error instanceof Error ? error : new Error('Connection lost'))
      throw this.#lostError(this.#lost ?? error, true)
    } finally {
      this.#running = false
    }
  }

  /** Gives the connection up: cancels the statement that runs, and closes the socket at once. */
  destroy(reason: Error): void {
    if (this.#running && this.#lost === undefined) this.#canceling = cancelStatement(this.#client, GOODBYE_MS)
    this.#lose(reason)
  }

  /** Says goodbye to the server and closes the socket; ends in half a second at most, and leaves nothing open. */
  async end(): Promise<void> {
    this.#ending = true
    const goodbye = Promise.all([this.#client.end(), this.#ended])
    try {
      await withDeadline(goodbye, GOODBYE_MS, () => new Error('No goodbye'))
    } catch {
      // The server didn't answer. The socket is closed without it.
    } finally {
      this.#destroySocket()
    }
    await Promise.all([this.#ended, this.#canceling])
  }

  #lose(reason: Error): void {
    if (this.#lost !== undefined) return
    this.#lost = reason
    this.#destroySocket()
    if (this.#connected && !this.#ending) this.#onLost(reason)
  }

  #lostError(reason: unknown, mayHaveRun: boolean): ConnectionLostError {
    const message = `The connection to ${this.server.address} was lost: ${messageOf(reason)}`
    return new ConnectionLostError(message, { cause: reason, mayHaveRun })
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Node's error for several addresses of one host has an empty message.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message
  return error.message
}
