import { ConnectionLostError, NotDeliveringError } from '../errors/connection-errors.js'
import { withDeadline } from '../timers/with-deadline.js'
import type { Subscription } from './subscription.js'

/**
 * Sends notifications to the listener itself and waits for them. One that comes back proves that the session lives, that it
 * listens, and that the server delivers; the answer to a query would prove the first only.
 */
export class Ping {
  readonly channel: string
  readonly #timeoutMs: number
  #count = 0
  #arrived: ((payload: string) => void) | undefined
  #fail: ((reason: Error) => void) | undefined

  /** @param channel - the listener's own channel, so that no other process is woken up by it */
  constructor(channel: string, timeoutMs: number) {
    this.channel = channel
    this.#timeoutMs = timeoutMs
  }

  /** Takes the notifications of the channel. */
  receive(payload: string): void {
    this.#arrived?.(payload)
  }

  /** Ends the ping that is under way: its session is lost, so it can't arrive any more. */
  fail(reason: Error): void {
    this.#fail?.(reason)
  }

  /** Pings over the listening session itself. */
  async self(listening: Subscription): Promise<void> {
    const lost = () =>
      new ConnectionLostError(
        `A ping through ${listening.server.address} did not come back within ${this.#timeoutMs} ms`,
      )
    await this.#send(listening, lost)
  }

  /**
   * Pings from another session. Only this proves that other sessions' notifications arrive: a pooler in transaction mode does
   * pass on what a session notifies itself, together with the answer.
   *
   * @throws NotDeliveringError if it was sent and didn't arrive
   */
  async from(other: Subscription, listening: Subscription): Promise<void> {
    await this.#send(other, () => new NotDeliveringError(listening.server.address))
  }

  async #send(sender: Subscription, onMissing: () => Error): Promise<void> {
    this.#count += 1
    const expected = String(this.#count)
    const arrived = new Promise<void>((resolve, reject) => {
      this.#arrived = (payload) => {
        if (payload === expected) resolve()
      }
      this.#fail = reject
    })
    // It may fail before it is waited for.
    arrived.catch(() => {})
    try {
      await sender.notify(this.channel, expected)
      await withDeadline(arrived, this.#timeoutMs, onMissing)
    } finally {
      this.#arrived = undefined
      this.#fail = undefined
    }
  }
}
