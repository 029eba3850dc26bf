import type { ConnectionOptions } from '../connection/connection-options.js'
import { InvalidOptionError } from '../errors/invalid-option-error.js'
import type { Logger } from '../logger/logger.js'
import { noopLogger } from '../logger/noop-logger.js'
import { checkOptions } from '../options/check-options.js'
import { anything, durationMs, flag, integer, loggerOption, text } from '../options/checks.js'

/** Settings of a {@link Worker}. */
export interface WorkerOptions extends ConnectionOptions {
  /**
   * A direct URL for the worker's own connections, where `connectionString` or `pool` goes through a pooler in transaction
   * mode: LISTEN and the locks by which workers sleep need a session.
   * @defaultValue the connection given
   */
  readonly listenerConnectionString?: string | readonly string[]
  /**
   * How long an idle worker sleeps at most, in milliseconds, if nothing wakes it. Jittered by 10 %.
   * @defaultValue 30000
   */
  readonly pollIntervalMs?: number
  /**
   * How often a lease is renewed, in milliseconds; at most half the type's `timeout`.
   * @defaultValue a third of the type's `timeout`
   */
  readonly heartbeatIntervalMs?: number
  /**
   * Most tasks to acquire in one statement. How many of them are taken ahead of free slots follows from how fast handlers
   * are: none for slow ones.
   * @defaultValue 500
   */
  readonly batchSize?: number
  /**
   * How long `stop()` lets running handlers go on, in milliseconds, before it aborts their signals.
   * @defaultValue 30000
   */
  readonly stopTimeoutMs?: number
  /**
   * How long an aborted handler may take to end, in milliseconds. After a run limit the task is then given back although the
   * handler still runs.
   * @defaultValue 10000
   */
  readonly abortGraceMs?: number
  /**
   * How often ended tasks past their type's `storage_time`, old occurrences and orphaned marks are deleted, in milliseconds
   * ± 50 %; null: never by this worker (`select tasks.maintain()` does the same).
   * @defaultValue 300000
   */
  readonly maintenanceIntervalMs?: number | null
  /**
   * Whether SIGTERM and SIGINT stop the worker; a second one, half a second later or more, ends the process.
   * @defaultValue true
   */
  readonly handleSignals?: boolean
  /**
   * How the worker's sessions are called in pg_stat_activity.
   * @defaultValue 'pg-tasks worker'
   */
  readonly applicationName?: string
  /**
   * Where log lines go; a pino logger fits as it is, `console` too. Without one and without a listener of `error`, only a
   * database that can't be reached at the start is told, as a warning of the process.
   * @defaultValue none
   */
  readonly logger?: Logger
}

export type ResolvedWorkerOptions = Readonly<
  Required<Omit<WorkerOptions, keyof ConnectionOptions | 'listenerConnectionString' | 'heartbeatIntervalMs'>>
> &
  ConnectionOptions & {
    readonly listenerConnectionString: string | readonly string[] | undefined
    readonly heartbeatIntervalMs: number | undefined
  }

/** @throws InvalidOptionError that names the option */
export function resolveWorkerOptions(options: WorkerOptions): ResolvedWorkerOptions {
  const resolved = checkOptions<{ [Name in keyof WorkerOptions]-?: unknown }>('Worker', options, {
    connectionString: anything(),
    connectionConfig: anything(),
    pool: anything(),
    listenerConnectionString: anything(),
    pollIntervalMs: durationMs({ default: 30_000 }),
    heartbeatIntervalMs: durationMs({ default: undefined }),
    batchSize: integer({ max: 10_000, default: 500 }),
    stopTimeoutMs: durationMs({ min: 0, default: 30_000 }),
    abortGraceMs: durationMs({ min: 0, default: 10_000 }),
    maintenanceIntervalMs: (given, refuse) =>
      given === null ? null : durationMs({ min: 100, default: 300_000 })(given, refuse),
    handleSignals: flag({ default: true }),
    applicationName: text({ default: 'pg-tasks worker' }),
    logger: loggerOption({ default: noopLogger }),
  })
  const given = Object.fromEntries(Object.entries(resolved).filter(([, value]) => value !== undefined))
  return Object.freeze(given) as unknown as ResolvedWorkerOptions
}

/** Where the worker's own sessions connect: directly, where the rest goes through a pooler. */
export function connectionOf(options: ResolvedWorkerOptions): ConnectionOptions {
  const { connectionString, connectionConfig, pool, listenerConnectionString } = options
  if (listenerConnectionString !== undefined) {
    return {
      connectionString: listenerConnectionString,
      ...(connectionConfig === undefined ? {} : { connectionConfig }),
    }
  }
  return {
    ...(connectionString === undefined ? {} : { connectionString }),
    ...(connectionConfig === undefined ? {} : { connectionConfig }),
    ...(pool === undefined ? {} : { pool }),
  }
}

/** How often a lease of this length is renewed. */
export function heartbeatIntervalOf(options: ResolvedWorkerOptions, timeoutMs: number | null): number {
  const { heartbeatIntervalMs } = options
  if (timeoutMs === null) return heartbeatIntervalMs ?? 20_000
  return Math.min(heartbeatIntervalMs ?? timeoutMs / 3, timeoutMs / 2)
}

/** @throws InvalidOptionError if heartbeats can't keep a lease of this length */
export function checkHeartbeatInterval(options: ResolvedWorkerOptions, table: string, timeoutMs: number | null): void {
  const { heartbeatIntervalMs } = options
  if (timeoutMs === null || heartbeatIntervalMs === undefined || heartbeatIntervalMs <= timeoutMs / 2) return
  throw new InvalidOptionError(
    'Worker',
    'heartbeatIntervalMs',
    `must be at most half the timeout of ${table} (${timeoutMs} ms), not ${heartbeatIntervalMs}.`,
  )
}
