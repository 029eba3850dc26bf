import { rescue, type TypeDescription } from '@pg-tasks/sql'
import { type TypeContext, typeReference } from '../type/type-context.js'

/** Shortest time between two rescues, as a share of the lease: it stands outside the hot path. */
const SHORTEST_SHARE = 1 / 4

/** For types whose tasks are never taken back, in milliseconds. */
const NO_LEASE_MS = 60_000

/** All idle workers learn of the same end; the first one rescues, the others find nothing. In milliseconds. */
const SPREAD_MS = 20

/** Brings back the tasks of dead workers: when their lease ends, and at most every quarter of a lease. */
export class Rescuer {
  readonly #context: TypeContext
  /** A worker that starts looks at once. */
  #dueAt = 0
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(context: TypeContext) {
    this.#context = context
  }

  /** A lease has ended. */
  hurry(): void {
    this.#dueAt = 0
  }

  /**
   * A lease of somebody else's ends in this time.
   *
   * @returns when to rescue, in milliseconds from now
   */
  plan(type: TypeDescription, inMs: number): number {
    const now = performance.now()
    const earliest = this.#lastAt + (type.timeoutMs ?? NO_LEASE_MS) * SHORTEST_SHARE
    this.#dueAt = Math.max(now + inMs, earliest) + SPREAD_MS * Math.random()
    return this.#dueAt - now
  }

  async rescueIfDue(type: TypeDescription): Promise<void> {
    const now = performance.now()
    if (now < this.#dueAt || now < this.#lastAt + (type.timeoutMs ?? NO_LEASE_MS) * SHORTEST_SHARE) return
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#lastAt = now
    const count = await rescue(this.#context.control, type)
    if (count === 0) return
    this.#context.logger.warn({ ...typeReference(type), count }, 'Tasks of dead workers were brought back')
    this.#context.events.emit('rescued', { ...typeReference(type), count })
  }
}
