import { Backoff } from '../backoff/backoff.js'

/** The wait before a schedule that failed is tried again. */
const WAIT = { baseMs: 500, maxMs: 60_000 }

/** Schedules that failed for a reason that may pass: each waits for its own time, and keeps no other waiting. */
export class Postponed {
  readonly #schedules = new Map<string, { readonly backoff: Backoff; until: number }>()

  /** It failed, perhaps once more. */
  add(key: string): void {
    const schedule = this.#schedules.get(key) ?? { backoff: new Backoff(WAIT), until: 0 }
    schedule.until = performance.now() + schedule.backoff.next()
    this.#schedules.set(key, schedule)
  }

  /** It was handled. */
  delete(key: string): void {
    this.#schedules.delete(key)
  }

  /** Those that are not to be taken now. */
  keys(): string[] {
    const now = performance.now()
    return [...this.#schedules].flatMap(([key, { until }]) => (until > now ? [key] : []))
  }

  /** Milliseconds until the first of them is tried again; Infinity if there is none. */
  nextInMs(): number {
    const now = performance.now()
    const waits = [...this.#schedules.values()].flatMap(({ until }) => (until > now ? [until - now] : []))
    return Math.min(Infinity, ...waits)
  }
}
