import type { LogFields, Logger } from './logger.js'

/** How often the same failure may be logged. */
export interface FailureLogOptions {
  /**
   * The shortest time between two lines about the same failure, in milliseconds; it doubles with every line up to 60 times.
   * @defaultValue 1000
   */
  readonly intervalMs?: number
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
}

interface Failure {
  readonly since: number
  readonly count: number
  readonly unlogged: number
  readonly nextLineAt: number
  readonly intervalMs: number
}

/** More kinds of failure at once than this, and the oldest is forgotten: keys may hold ids. */
const MOST_KEYS = 100

/**
 * Logs failures that repeat without flooding: the first at once, then at most about one line per second and fewer the longer
 * it lasts, each with the count of those that were left out. Holds no timer.
 */
export class FailureLog {
  readonly #logger: Logger
  readonly #intervalMs: number
  readonly #now: () => number
  readonly #failures = new Map<string, Failure>()

  constructor(logger: Logger, { intervalMs = 1000, now = () => performance.now() }: FailureLogOptions = {}) {
    this.#logger = logger
    this.#intervalMs = intervalMs
    this.#now = now
  }

  /**
   * Notes a failure; logs it if the last line about its kind is long enough ago.
   *
   * @param kind - failures of the same kind share their lines: an operation's name, perhaps with an error code
   */
  failed(kind: string, fields: LogFields, message: string, level: 'warn' | 'error' = 'warn'): void {
    const now = this.#now()
    const before = this.#failures.get(kind)
    this.#failures.delete(kind)
    if (before !== undefined && now < before.nextLineAt) {
      this.#failures.set(kind, { ...before, count: before.count + 1, unlogged: before.unlogged + 1 })
      return
    }
    const intervalMs = before === undefined ? this.#intervalMs : Math.min(before.intervalMs * 2, this.#intervalMs * 60)
    this.#failures.set(kind, {
      since: before?.since ?? now,
      count: (before?.count ?? 0) + 1,
      unlogged: 0,
      nextLineAt: now + intervalMs,
      intervalMs,
    })
    this.#forgetOldest()
    this.#logger[level](before === undefined ? fields : { ...fields, repeated: before.unlogged + 1 }, message)
  }

  /** Notes that it works again: one line at info if it had failed, and the next failure is logged at once. */
  recovered(kind: string, message: string): void {
    const failure = this.#failures.get(kind)
    if (failure === undefined) return
    this.#failures.delete(kind)
    this.#logger.info({ failures: failure.count, durationMs: Math.round(this.#now() - failure.since) }, message)
  }

  #forgetOldest(): void {
    if (this.#failures.size <= MOST_KEYS) return
    const [oldest] = this.#failures.keys()
    if (oldest !== undefined) this.#failures.delete(oldest)
  }
}
