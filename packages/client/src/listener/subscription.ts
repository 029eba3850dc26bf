import pgListen, { type Subscriber } from 'pg-listen'
import type { Server } from '../connection/connection-source.js'
import { captureStream } from '../connection/create-client.js'
import { ClosedError, ConnectionLostError } from '../errors/connection-errors.js'
import { withDeadline } from '../timers/with-deadline.js'
import { refusesSetting, withTcpUserTimeout } from './server-settings.js'

/** How a subscription is made. */
export interface SubscriptionOptions {
  readonly channels: readonly string[]
  readonly applicationName: string
  readonly connectTimeoutMs: number
  /** Longest time for a LISTEN or NOTIFY, in milliseconds. */
  readonly statementTimeoutMs: number
  readonly tcpUserTimeoutMs: number
  /** Closes the socket at once, whatever the connection is doing. */
  readonly signal: AbortSignal
  /** Told of each notification. Must not throw. */
  readonly onNotification: (channel: string, payload: string) => void
  /** Told once if the open connection is lost. Must not throw. */
  readonly onLost: (reason: Error) => void
}

/** How long a goodbye to the server may take before the socket is closed without one. */
const GOODBYE_MS = 500

/** pg-listen is compiled CommonJS: Node gives its module object where its types promise the function. */
const createSubscriber = ((pgListen as unknown as { default?: unknown }).default ?? pgListen) as unknown as (
  config: object,
  options: object,
) => Subscriber

/**
 * One pg-listen subscriber, for the life of one connection. pg-listen's own reconnecting is off: it gives up, comes back
 * deaf if LISTEN is refused, and goes on after close(). It has no deadlines either; here every step has one, after which the
 * socket is closed.
 */
export class Subscription {
  readonly server: Server
  readonly #options: SubscriptionOptions
  readonly #subscriber: Subscriber
  readonly #destroySocket: () => void
  #state: 'opening' | 'open' | 'lost' | 'closed' = 'opening'
  #reason: Error | undefined
  readonly #onAbort = (): void => this.#lose(new ClosedError('The listener'))

  private constructor(server: Server, tcpUserTimeout: boolean, options: SubscriptionOptions) {
    const config = tcpUserTimeout ? withTcpUserTimeout(server.config, options.tcpUserTimeoutMs) : server.config
    const { config: captured, destroy } = captureStream(config)
    this.server = server
    this.#options = options
    this.#destroySocket = destroy
    this.#subscriber = createSubscriber(
      { keepAliveInitialDelayMillis: 10_000, ...captured, fallback_application_name: options.applicationName },
      // A payload is plain text: parsed as JSON, ours would be errors.
      { parse: identity, serialize: identity, paranoidChecking: false, retryLimit: 1 },
    )
    // pg-listen says "error" for every lost connection, since it doesn't reconnect; without a listener the process ends.
    this.#subscriber.events.on('error', (error) => this.#lose(error))
    for (const channel of options.channels) {
      this.#subscriber.notifications.on(channel, (payload: string | undefined) => {
        if (this.#state !== 'closed') options.onNotification(channel, payload ?? '')
      })
    }
  }

  /**
   * Connects and listens.
   *
   * @throws the driver's error, or a ConnectionLostError after a deadline
   */
  static async open(server: Server, options: SubscriptionOptions): Promise<Subscription> {
    try {
      return await Subscription.#open(server, true, options)
    } catch (error) {
      if (!refusesSetting(error)) throw error
      return await Subscription.#open(server, false, options)
    }
  }

  static async #open(server: Server, tcpUserTimeout: boolean, options: SubscriptionOptions): Promise<Subscription> {
    options.signal.throwIfAborted()
    const subscription = new Subscription(server, tcpUserTimeout, options)
    options.signal.addEventListener('abort', subscription.#onAbort, { once: true })
    try {
      await subscription.#step('connect', options.connectTimeoutMs, () => subscription.#subscriber.connect())
      for (const channel of options.channels) {
        await subscription.#step('LISTEN', options.statementTimeoutMs, () => subscription.#subscriber.listenTo(channel))
      }
      subscription.#state = 'open'
      return subscription
    } catch (error) {
      await subscription.close()
      throw error
    }
  }

  /** Sends a notification on this connection; the caller sees to it that none overlap. */
  async notify(channel: string, payload: string): Promise<void> {
    await this.#step('NOTIFY', this.#options.statementTimeoutMs, () => this.#subscriber.notify(channel, payload))
  }

  /** Stops listening; for a connection whose server session others will use after us. */
  async unlistenAll(): Promise<void> {
    await this.#step('UNLISTEN', this.#options.statementTimeoutMs, () => this.#subscriber.unlistenAll())
  }

  /** Ends the connection, in half a second at most, and leaves nothing open. */
  async close(): Promise<void> {
    const open = this.#state === 'open'
    this.#state = 'closed'
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    try {
      const goodbye = this.#subscriber.close()
      if (open) await withDeadline(goodbye, GOODBYE_MS, () => new Error('No goodbye'))
      else goodbye.catch(() => {})
    } catch {
      // The server didn't answer. The socket is closed without it.
    } finally {
      this.#destroySocket()
    }
  }

  async #step(what: string, deadlineMs: number, step: () => Promise<unknown> | undefined): Promise<void> {
    if (this.#reason !== undefined) throw this.#reason
    const lost = () => new ConnectionLostError(`${this.server.address} did not answer ${what} within ${deadlineMs} ms`)
    await withDeadline(Promise.resolve(step()), deadlineMs, lost)
  }

  #lose(reason: Error): void {
    if (this.#state === 'lost' || this.#state === 'closed') return
    const { onLost } = this.#options
    const wasOpen = this.#state === 'open'
    this.#state = 'lost'
    this.#reason = reason
    this.#destroySocket()
    if (wasOpen) onLost(reason)
  }
}

function identity(text: string): string {
  return text
}
