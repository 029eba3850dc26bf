import type { ErrorCode } from './error-codes.js'
import { redact } from './redact.js'

/** What an error may bring along besides its message. */
export interface PgTasksErrorDetails {
  /** The error behind this one. */
  readonly cause?: unknown
  /** What to do, where the database says it apart from the message. */
  readonly hint?: string | undefined
}

/**
 * The base of every error that this package throws.
 *
 * Tell errors apart by `code`, which is stable, or by class; the message says what to do and may change.
 */
export class PgTasksError extends Error {
  override readonly name: string = 'PgTasksError'
  readonly code: ErrorCode
  /** Not there, rather than undefined, where nothing was told: what Node prints of an error is read by people. */
  declare readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, details: PgTasksErrorDetails = {}) {
    super(redact(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    if (details.hint !== undefined) this.hint = details.hint
  }
}
