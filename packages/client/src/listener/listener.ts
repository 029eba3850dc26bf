import { randomUUID } from 'node:crypto'
import { Backoff } from '../backoff/backoff.js'
import { ClosedError, ConnectionLostError, NotDeliveringError } from '../errors/connection-errors.js'
import { redact } from '../errors/redact.js'
import { callSafely } from '../events/call-safely.js'
import { FailureLog } from '../logger/failure-log.js'
import type { Logger } from '../logger/logger.js'
import { safeLogger } from '../logger/safe-logger.js'
import { Gate } from '../timers/gate.js'
import { sleep } from '../timers/sleep.js'
import { type ListenerOptions, type ResolvedListenerOptions, resolveListenerOptions } from './listener-options.js'
import type { ListenerState, ListenerStatus } from './listener-status.js'
import { openSubscription } from './open-subscription.js'
import { Ping } from './ping.js'
import { Subscription, type SubscriptionOptions } from './subscription.js'

/** A session that lived shorter than this doesn't reset the backoff: a server may let sessions in and cut them off. */
const STABLE_MS = 1_000

/**
 * Hears the notifications of some channels, through everything that happens to a connection: it proves with pings that they
 * arrive, replaces a session that is lost, silent or deaf, for ever, and says when some may have been missed.
 *
 * Loop: connect and LISTEN → ping → `onUp` → ping at intervals until lost → `onDown` → pause → again.
 */
export class Listener {
  readonly #options: ResolvedListenerOptions
  readonly #closing = new AbortController()
  readonly #lost = new Gate()
  readonly #backoff: Backoff
  readonly #slowBackoff: Backoff
  readonly #ping: Ping
  readonly #logger: Logger
  readonly #failures: FailureLog
  #state: ListenerState = 'idle'
  #running: Promise<void> | undefined
  #subscription: Subscription | undefined
  #lossReason: Error | undefined
  /** Whether a notification from another session has been seen to arrive in this session. */
  #proven = false
  #outage: 'none' | 'lost' | 'not_delivering' = 'none'
  #lastPingAt: Date | undefined
  #ups = 0
  #upSince: number | undefined
  #settleFirst: (listening: boolean) => void = () => {}
  readonly #first = new Promise<boolean>((resolve) => {
    this.#settleFirst = resolve
  })

  constructor(options: ListenerOptions) {
    this.#options = resolveListenerOptions(options)
    const { backoff, notDeliveringRetryMs, pingTimeoutMs, logger } = this.#options
    this.#backoff = new Backoff(backoff)
    this.#slowBackoff = new Backoff({ baseMs: Math.min(1_000, notDeliveringRetryMs), maxMs: notDeliveringRetryMs })
    // One channel for all sessions: what a pooler's server session still listens to must not pile up.
    this.#ping = new Ping(`pg_tasks_ping_${randomUUID().replaceAll('-', '')}`, pingTimeoutMs)
    this.#logger = safeLogger(logger)
    this.#failures = new FailureLog(this.#logger)
  }

  get status(): ListenerStatus {
    return Object.freeze({
      state: this.#state,
      listening: this.#state === 'listening',
      proven: this.#state === 'listening' && this.#proven,
      lastPingAt: this.#lastPingAt,
      reconnects: Math.max(0, this.#ups - 1),
      server: this.#subscription?.server.address,
    })
  }

  /** Begins to listen, for ever. Resolves after the first attempt: true if notifications arrive. Never rejects. */
  start(): Promise<boolean> {
    if (this.#state === 'idle') {
      this.#state = 'connecting'
      this.#running = this.#run()
    }
    return this.#first
  }

  /** Ends the session and every attempt; no callback is called any more, and nothing is left open. */
  async close(): Promise<void> {
    this.#state = 'closed'
    this.#settleFirst(false)
    this.#ping.fail(new ClosedError('The listener'))
    await this.#subscription?.close()
    this.#closing.abort()
    await this.#running
  }

  get #closed(): boolean {
    return this.#state === 'closed'
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const failure = await this.#listenUntilLost()
      if (this.#closed) return
      this.#down(failure)
      const backoff = failure instanceof NotDeliveringError ? this.#slowBackoff : this.#backoff
      await sleep(backoff.next(), { signal: this.#closing.signal })
    }
  }

  /** One session, from connecting to its end; returns why it ended. */
  async #listenUntilLost(): Promise<unknown> {
    this.#lossReason = undefined
    this.#proven = false
    this.#lost.consume()
    try {
      const { source, pingIntervalMs, channels } = this.#options
      const listening = await openSubscription(source, this.#subscriptionOptions([...channels, this.#ping.channel]))
      this.#subscription = listening
      await this.#prove(listening)
      this.#up()
      while ((await this.#lost.wait(pingIntervalMs, { signal: this.#closing.signal })) === 'elapsed') {
        await this.#prove(listening)
      }
      return this.#lossReason
    } catch (error) {
      if (error instanceof NotDeliveringError) await this.#subscription?.unlistenAll().catch(() => {})
      return this.#lossReason ?? error
    } finally {
      await this.#subscription?.close()
      this.#subscription = undefined
    }
  }

  async #prove(listening: Subscription): Promise<void> {
    await this.#ping.self(listening)
    if (!this.#proven) this.#proven = await this.#proveFromOutside(listening)
    this.#lastPingAt = new Date()
  }

  /** Returns false where it can't be tried, for lack of a second connection: the next ping tries again. */
  async #proveFromOutside(listening: Subscription): Promise<boolean> {
    let other: Subscription | undefined
    try {
      other = await Subscription.open(listening.server, this.#subscriptionOptions([]))
      await this.#ping.from(other, listening)
      return true
    } catch (error) {
      if (error instanceof NotDeliveringError || this.#lossReason !== undefined) throw error
      this.#logger.debug({ reason: messageOf(error) }, 'The listener could not prove that it hears other sessions')
      return false
    } finally {
      await other?.close()
    }
  }

  #subscriptionOptions(channels: readonly string[]): SubscriptionOptions {
    const { applicationName, connectTimeoutMs, pingTimeoutMs, tcpUserTimeoutMs } = this.#options
    const listens = channels.length > 0
    return {
      channels,
      applicationName: listens ? applicationName : `${applicationName} probe`,
      connectTimeoutMs,
      statementTimeoutMs: pingTimeoutMs,
      tcpUserTimeoutMs,
      signal: this.#closing.signal,
      onNotification: (channel, payload) => this.#receive(channel, payload),
      onLost: (reason) => {
        if (listens) this.#onLost(reason)
      },
    }
  }

  #receive(channel: string, payload: string): void {
    if (channel === this.#ping.channel) this.#ping.receive(payload)
    else this.#call('onNotification', () => this.#options.onNotification(channel, payload))
  }

  #onLost(cause: Error): void {
    this.#lossReason = new ConnectionLostError('The listening connection was lost', { cause })
    this.#ping.fail(this.#lossReason)
    this.#lost.wake()
  }

  #up(): void {
    if (this.#closed) return
    this.#state = 'listening'
    this.#ups += 1
    this.#upSince = performance.now()
    this.#outage = 'none'
    this.#slowBackoff.reset()
    this.#failures.recovered('listening', 'Notifications arrive again')
    this.#settleFirst(true)
    this.#call('onUp', this.#options.onUp)
  }

  #down(failure: unknown): void {
    const reason = failure instanceof Error ? failure : new Error(String(failure))
    if (this.#upSince !== undefined && performance.now() - this.#upSince >= STABLE_MS) this.#backoff.reset()
    this.#upSince = undefined
    const before = this.#outage
    const notDelivering = reason instanceof NotDeliveringError
    this.#state = notDelivering ? 'not_delivering' : 'connecting'
    if (notDelivering) this.#outage = 'not_delivering'
    else if (before === 'none') this.#outage = 'lost'
    this.#log(reason, notDelivering && before === 'not_delivering')
    this.#settleFirst(false)
    if (this.#outage !== before) this.#call('onDown', () => this.#options.onDown(reason))
  }

  #log(reason: Error, known: boolean): void {
    const fields = { reason: messageOf(reason), server: this.#options.source.current.address }
    if (known) return
    this.#failures.failed('listening', fields, 'Notifications do not arrive; tasks are found by the poll until they do')
  }

  #call(name: string, callback: () => unknown): void {
    if (this.#closed) return
    callSafely(callback, (error) => {
      this.#failures.failed(name, { reason: messageOf(error) }, `The listener's ${name} has thrown`, 'error')
    })
  }
}

function messageOf(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error))
}
