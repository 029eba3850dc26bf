import { redact } from '../../errors/redact.js'
import type { Claimed } from '../../task/claimed.js'

/** What the acquires of one type have shown, for health. */
export class AcquireLog {
  #lastAt: Date | undefined
  #lagMs: number | undefined
  #error: string | undefined

  get lastAt(): Date | undefined {
    return this.#lastAt
  }

  get lagMs(): number | undefined {
    return this.#lagMs
  }

  get error(): string | undefined {
    return this.#error
  }

  succeeded(rows: readonly Claimed[]): void {
    this.#lastAt = new Date()
    this.#error = undefined
    this.#lagMs = rows.reduce((most, row) => Math.max(most, latenessOf(row)), 0)
  }

  failed(error: unknown): void {
    this.#error = redact(error instanceof Error ? error.message : String(error))
  }
}

/** Both times are the database's. The user's own parsers may make something else of them; infinity is a number. */
function latenessOf({ planned_to: due, started_at: start }: Claimed): number {
  return due instanceof Date && start instanceof Date ? start.getTime() - due.getTime() : 0
}
