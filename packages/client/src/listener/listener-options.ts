import type { BackoffOptions } from '../backoff/backoff.js'
import type { ConnectionSource } from '../connection/connection-source.js'
import type { Logger } from '../logger/logger.js'
import { noopLogger } from '../logger/noop-logger.js'
import { checkOptions } from '../options/check-options.js'
import { anything, callback, durationMs, loggerOption, text } from '../options/checks.js'

/** Settings of a {@link Listener}. */
export interface ListenerOptions {
  /** Where to connect; not through a pooler in transaction mode, which delivers nothing. */
  readonly source: ConnectionSource
  /** The channels to listen on, spelled as `pg_notify` gets them. */
  readonly channels: readonly string[]
  /** The session's name in pg_stat_activity, unless the configuration names it. */
  readonly applicationName: string
  /** Told of each notification; an empty payload is `''`. May throw: that is logged. */
  readonly onNotification: (channel: string, payload: string) => void
  /** Told after each (re)connect that notifications arrive from now on; what came before was missed: look at everything. */
  readonly onUp?: () => void
  /** Told once per outage that nothing arrives until the next `onUp`, and again if it turns out that nothing ever will. */
  readonly onDown?: (reason: Error) => void
  /** @defaultValue none */
  readonly logger?: Logger
  /**
   * How often the listener notifies itself, in milliseconds. That proves that notifications arrive, and keeps the session from
   * being idle: keep it below the server's `idle_session_timeout`.
   * @defaultValue 15000
   */
  readonly pingIntervalMs?: number
  /**
   * How long a ping may take, in milliseconds, before the connection counts as dead.
   * @defaultValue 5000
   */
  readonly pingTimeoutMs?: number
  /**
   * Longest time for connecting to one server, in milliseconds.
   * @defaultValue 10000
   */
  readonly connectTimeoutMs?: number
  /**
   * The server's `tcp_user_timeout` for this session, in milliseconds: a process that stops reading is cut off, before it holds
   * up the notification queue of all.
   * @defaultValue 60000
   */
  readonly tcpUserTimeoutMs?: number
  /**
   * The pause between attempts to connect. There is no limit to their number.
   * @defaultValue 100 ms, doubled up to 3 s
   */
  readonly backoff?: BackoffOptions
  /**
   * The longest pause between attempts while nothing is delivered (see `NotDeliveringError`), in milliseconds.
   * @defaultValue 60000
   */
  readonly notDeliveringRetryMs?: number
}

/** Options with everything filled in. */
export type ResolvedListenerOptions = Readonly<Required<ListenerOptions>>

/** Checks a listener's options and fills in the defaults. */
export function resolveListenerOptions(options: ListenerOptions): ResolvedListenerOptions {
  const resolved = checkOptions<Required<ListenerOptions>>('Listener', options, {
    source: anything<ConnectionSource>(),
    channels: channelNames,
    applicationName: text(),
    onNotification: callback<ListenerOptions['onNotification']>(),
    onUp: callback<() => void, () => void>({ default: () => {} }),
    onDown: callback<(reason: Error) => void, () => void>({ default: () => {} }),
    logger: loggerOption({ default: noopLogger }),
    pingIntervalMs: durationMs({ default: 15_000 }),
    pingTimeoutMs: durationMs({ default: 5_000 }),
    connectTimeoutMs: durationMs({ default: 10_000 }),
    tcpUserTimeoutMs: durationMs({ default: 60_000 }),
    backoff: (given) => (given ?? { baseMs: 100, maxMs: 3_000 }) as BackoffOptions,
    notDeliveringRetryMs: durationMs({ default: 60_000 }),
  })
  return resolved
}

/** PostgreSQL cuts identifiers to this length in LISTEN but refuses them in pg_notify. */
const LONGEST_CHANNEL_BYTES = 63

function channelNames(given: unknown, refuse: (problem: string) => never): readonly string[] {
  const valid = (one: unknown): boolean =>
    typeof one === 'string' && one !== '' && Buffer.byteLength(one) <= LONGEST_CHANNEL_BYTES && !one.includes('\u0000')
  if (Array.isArray(given) && given.length > 0 && given.every(valid)) return [...new Set(given as string[])]
  return refuse(`must be a list of channel names of 1 to ${LONGEST_CHANNEL_BYTES} bytes.`)
}
