/** The time for which tasks may be taken ahead of free slots, in milliseconds: about two round trips to a database nearby. */
const AHEAD_MS = 10

/** Weight of the newest handler in the mean. */
const NEWEST = 0.05

/** Batches that may be held ahead: while one is worked off, the next is being acquired in full. */
const BATCHES_AHEAD = 2

/**
 * How many tasks to hold ahead of free slots: as many as the slots work off in a few milliseconds. Slow handlers take none
 * ahead, so their tasks stay free for other workers; fast ones find the next at hand.
 */
export class Prefetch {
  readonly #concurrency: number
  readonly #most: number
  #meanMs: number | undefined

  constructor(concurrency: number, batchSize: number) {
    this.#concurrency = concurrency
    this.#most = BATCHES_AHEAD * batchSize
  }

  /** Notes how long a handler ran. */
  ran(durationMs: number): void {
    this.#meanMs = this.#meanMs === undefined ? durationMs : this.#meanMs + NEWEST * (durationMs - this.#meanMs)
  }

  /** Notes that no slot has become free for so long: what went before says nothing any more. */
  stalled(durationMs: number): void {
    this.#meanMs = Math.max(this.#meanMs ?? 0, durationMs)
  }

  /** Tasks to hold ahead now. */
  get ahead(): number {
    if (this.#meanMs === undefined) return 0
    return Math.min(this.#most, Math.floor((this.#concurrency * AHEAD_MS) / Math.max(this.#meanMs, 0.001)))
  }
}
