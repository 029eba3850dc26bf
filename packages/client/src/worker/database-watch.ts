import { isConnectionLost, isReadOnly } from '../errors/is-transient.js'
import { redact } from '../errors/redact.js'
import type { DatabaseHealth } from './worker-health.js'

/** A statement that has no answer after this time, in milliseconds, while no other got one, says that the database is silent. */
const SILENT_MS = 5_000

/** Whether the database answers, as far as the worker's own statements have shown. An error of a statement is an answer too. */
export class DatabaseWatch {
  /** When the statements that have no answer yet were asked for, in their order. */
  readonly #waiting = new Set<{ readonly since: number }>()
  /** Resolves when it has answered for the first time. */
  readonly firstAnswer: Promise<void>
  #onFirstAnswer: () => void = () => {}
  #answered = Number.NEGATIVE_INFINITY
  #answeredAt: Date | undefined
  #failure: string | undefined

  constructor() {
    this.firstAnswer = new Promise((resolve) => {
      this.#onFirstAnswer = resolve
    })
  }

  /**
   * Notes what becomes of a call.
   *
   * @param call - may end the watch before its own end, where from then on others do what it does
   */
  async watch<Value>(call: (endWatch: () => void) => Promise<Value>): Promise<Value> {
    const asked = { since: performance.now() }
    this.#waiting.add(asked)
    try {
      const value = await call(() => this.#waiting.delete(asked))
      if (this.#waiting.has(asked)) this.answered()
      return value
    } catch (error) {
      if (this.#waiting.has(asked)) this.#note(error)
      throw error
    } finally {
      this.#waiting.delete(asked)
    }
  }

  answered(): void {
    this.#answered = performance.now()
    this.#answeredAt = new Date()
    this.#failure = undefined
    this.#onFirstAnswer()
  }

  failed(error: unknown): void {
    this.#failure = redact(error instanceof Error ? error.message : String(error))
  }

  #note(error: unknown): void {
    if (isConnectionLost(error) || isReadOnly(error)) this.failed(error)
    // What was thrown without a SQLSTATE came from this side.
    else if (hasSqlState(error)) this.answered()
  }

  get health(): DatabaseHealth {
    const error = this.#failure ?? this.#silence()
    return Object.freeze({
      answers: error === undefined && this.#answeredAt !== undefined,
      lastAnswerAt: this.#answeredAt,
      error,
    })
  }

  #silence(): string | undefined {
    const [oldest] = this.#waiting
    if (oldest === undefined) return undefined
    const silentMs = performance.now() - Math.max(oldest.since, this.#answered)
    return silentMs < SILENT_MS ? undefined : `No answer for ${Math.round(silentMs)} ms`
  }
}

function hasSqlState(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)
}
