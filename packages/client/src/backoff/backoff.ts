/** How long to wait after failures: `baseMs · 2ⁿ`, up to `maxMs`, ± `jitter`. */
export interface BackoffOptions {
  /** The wait after the first failure, in milliseconds. */
  readonly baseMs: number
  /** The longest wait, jitter included, in milliseconds. */
  readonly maxMs: number
  /**
   * The share by which a wait is made longer or shorter at random, so that many workers don't come back together.
   * @defaultValue 0.2
   */
  readonly jitter?: number
}

/**
 * The wait after the `failures`-th failure in a row (from 1), in milliseconds.
 *
 * @param random - a number from 0 to 1, as `Math.random()` gives it
 */
export function backoffDelay(failures: number, options: BackoffOptions, random: number = Math.random()): number {
  const { baseMs, maxMs, jitter = 0.2 } = options
  // 2 ** 1024 is Infinity, which Math.min cuts: no count of failures is too large.
  const delayMs = Math.min(baseMs * 2 ** Math.max(failures - 1, 0), maxMs)
  return Math.min(delayMs * (1 + jitter * (2 * random - 1)), maxMs)
}

/** Counts failures in a row and tells how long to wait after each. */
export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures
  }

  /** Counts a failure; returns the milliseconds to wait before the next attempt. */
  next(): number {
    this.#failures += 1
    return backoffDelay(this.#failures, this.#options)
  }

  /** After a success: the next failure waits the base time again. */
  reset(): void {
    this.#failures = 0
  }
}
