import { Backoff } from '../backoff/backoff.js'

/** The wait before a schedule is tried again whose task could not be enqueued. */
const FAILED = { baseMs: 500, maxMs: 60_000 }

/** The wait before one is tried again by which a whole pass failed: with it, the others of that pass wait. */
const FAILED_PASS = { baseMs: 5_000, maxMs: 300_000 }

/** Schedules that failed for a reason that may pass: each waits for its own time, and keeps no other waiting. */
export class Postponed {
  readonly #schedules = new Map<string, { readonly backoff: Backoff; until: number }>()

  /** It failed, perhaps once more. */
  add(key: string, what: 'schedule' | 'pass'): void {
    const present = this.#schedules.get(key)
    const schedule = present ?? { backoff: new Backoff(what === 'pass' ? FAILED_PASS : FAILED), until: 0 }
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
