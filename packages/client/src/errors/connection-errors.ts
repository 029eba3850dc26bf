import { PgTasksError } from './pg-tasks-error.js'

/** The connection was lost, or couldn't be made. Transient: the next call connects anew. */
export class ConnectionLostError extends PgTasksError {
  override readonly name = 'ConnectionLostError'
  /**
   * Whether the statement was sent, so that the database may have run it although no answer came.
   * False: it certainly had no effect.
   */
  readonly mayHaveRun: boolean

  constructor(message: string, details: { readonly cause?: unknown; readonly mayHaveRun?: boolean } = {}) {
    super('CONNECTION_LOST', message, details)
    this.mayHaveRun = details.mayHaveRun ?? false
  }
}

/** Every server that could be reached is a standby or read-only: a failover is under way, or the address is a replica's. */
export class ReadOnlyServerError extends PgTasksError {
  override readonly name = 'ReadOnlyServerError'
  /** `host:port` or the socket's path; never with user or password. */
  readonly server: string

  constructor(server: string, details: { readonly cause?: unknown } = {}) {
    super(
      'READ_ONLY_SERVER',
      `${server} takes no writes: it is a standby, or default_transaction_read_only is on for the role or the database. ` +
        'Give the address of the primary, or all addresses in turn; or switch that setting off.',
      details,
    )
    this.server = server
  }
}

/**
 * LISTEN succeeds on this connection, but nothing is ever delivered, as behind a pooler in transaction mode.
 *
 * Tasks still run, found by the poll. Give the listener a direct connection.
 */
export class NotDeliveringError extends PgTasksError {
  override readonly name = 'NotDeliveringError'
  readonly server: string

  constructor(server: string, details: { readonly cause?: unknown } = {}) {
    super(
      'NOT_DELIVERING',
      `Notifications don't arrive through ${server} (pgbouncer in transaction mode?). Tasks are found by the poll only; ` +
        'give the listener a direct connection to PostgreSQL.',
      details,
    )
    this.server = server
  }
}

/** Whether a call failed because we closed its connection ourselves. */
export function isClosing(error: unknown): boolean {
  return error instanceof ClosedError || (error instanceof ConnectionLostError && error.cause instanceof ClosedError)
}

/** A call on something that was closed. */
export class ClosedError extends PgTasksError {
  override readonly name = 'ClosedError'

  constructor(what: string) {
    super('CLOSED', `${what} is closed.`)
  }
}
