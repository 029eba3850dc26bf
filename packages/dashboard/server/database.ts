import { type Logger, PgTasksError, type PoolClientLike, type PoolLike } from '@pg-tasks/client'
import { type AuditEntry, actBriefly, lookOnly, PgTasksSqlError, type Queryable, writeAudit } from '@pg-tasks/sql'
import { Pool } from 'pg'
import { BoundedSession } from './bounded-session.js'
import type { DashboardUser, ResolvedDashboardOptions } from './dashboard-options.js'
import { DashboardRefusal } from './problem.js'

/** What an action did, for the audit, and what it answers. */
export interface Acted<Value> {
  readonly affected: number
  readonly value: Value
  readonly target?: string | undefined
}

/** Time spent in statements, in milliseconds. */
export interface Stopwatch {
  databaseMs: number
}

/** The longest time of a statement as this side sees it, in milliseconds: the server's own limit, and a network that is slow. */
const LOOK_MS = 8_000
const ACT_MS = 35_000

/** A pool's client, which in pg tells of its connection's loss. */
type ErrorTeller = PoolClientLike & {
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** How the dashboard asks the database: readers in transactions that can't write, actions in short ones that are audited. */
export class Database {
  readonly #pool: PoolLike
  readonly #own: Pool | undefined
  #ending: Promise<void> | undefined
  readonly #lockTimeoutMs: number
  readonly #logger: Logger | undefined

  constructor({ connectionString, pool, lockTimeoutMs, logger }: ResolvedDashboardOptions) {
    this.#lockTimeoutMs = lockTimeoutMs
    this.#logger = logger
    if (pool !== undefined) {
      this.#pool = pool
      return
    }
    this.#own = new Pool({
      ...(connectionString === undefined ? {} : { connectionString }),
      max: 4,
      connectionTimeoutMillis: 10_000,
      fallback_application_name: 'pg-tasks dashboard',
    })
    // An idle connection that is lost must not end the process.
    this.#own.on('error', (error) => logger?.warn({ reason: error.message }, 'The dashboard lost an idle connection'))
    this.#pool = this.#own as unknown as PoolLike
  }

  /** Reads, in a transaction that can't write. */
  look<Value>(work: (connection: Queryable) => Promise<Value>, stopwatch?: Stopwatch): Promise<Value> {
    return this.#withSession((session) => lookOnly(session, () => work(session)), LOOK_MS, stopwatch)
  }

  /** Acts, and writes into the audit who did what, in one transaction that waits for no row for long. */
  async act<Value>(
    user: DashboardUser,
    entry: Omit<AuditEntry, 'actor' | 'affected'>,
    work: (connection: Queryable) => Promise<Acted<Value>>,
    stopwatch?: Stopwatch,
  ): Promise<Value> {
    const { affected, value } = await this.#withSession(
      (session) =>
        actBriefly(
          session,
          async () => {
            const acted = await work(session)
            const target = acted.target ?? entry.target
            if (acted.affected > 0) {
              await writeAudit(session, { ...entry, target, actor: user.name, affected: acted.affected })
            }
            return acted
          },
          { lockTimeoutMs: this.#lockTimeoutMs },
        ),
      ACT_MS,
      stopwatch,
    )
    const { type, ...rest } = entry
    const table = type === undefined ? {} : { schema: type.schema, table: type.table }
    this.#logger?.info({ actor: user.name, ...rest, ...table, affected }, 'An operator acted')
    return value
  }

  /** Asks outside a transaction, for what opens its own or must not be in one. */
  ask<Value>(work: (connection: Queryable) => Promise<Value>, stopwatch?: Stopwatch): Promise<Value> {
    return this.#withSession(work, ACT_MS, stopwatch)
  }

  /** Ends the connections made here. */
  async close(): Promise<void> {
    this.#ending ??= this.#own?.end()
    await this.#ending
  }

  async #withSession<Value>(
    work: (session: Queryable) => Promise<Value>,
    longestMs: number,
    stopwatch?: Stopwatch,
  ): Promise<Value> {
    const client: ErrorTeller = await this.#pool.connect()
    let lost: Error | undefined
    // While it is checked out, nobody else hears that its connection is lost, and an error that nobody hears ends the process.
    const onError = (error: Error): void => {
      lost = error
    }
    client.on?.('error', onError)
    const session = new BoundedSession(client, longestMs)
    try {
      return await work(stopwatch === undefined ? session : timed(session, stopwatch))
    } catch (error) {
      // A transaction that may still be open must not go back into the pool; what the server refused has been rolled back.
      if (!isServerError(error)) lost = error as Error
      throw error
    } finally {
      client.off?.('error', onError)
      client.release(lost)
    }
  }
}

/** What the server refused, or we did, was rolled back; anything else may have left the session in between. */
function isServerError(error: unknown): boolean {
  if (error instanceof DashboardRefusal || error instanceof PgTasksError || error instanceof PgTasksSqlError)
    return true
  return (error as { severity?: unknown }).severity === 'ERROR'
}

function timed(client: Queryable, stopwatch: Stopwatch): Queryable {
  return {
    async query(text, values) {
      const begun = performance.now()
      try {
        return await client.query(text, values)
      } finally {
        stopwatch.databaseMs += performance.now() - begun
      }
    },
  }
}
