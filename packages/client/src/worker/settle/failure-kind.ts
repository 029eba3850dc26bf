import { isTransient } from '../../errors/is-transient.js'

/** SQLSTATEs that say that the table or its functions are not where they were: renamed, dropped, unregistered, re-created. */
const MOVED = /^(42P01|42883|3F000|0A000|42704|XX000|TQ004)$/

/** As above, and missing rights: no statement of the type's works until somebody mends that. */
const TYPE_STATES = /^(42P01|42883|3F000|TQ004|42501)$/

/** A lock, a timeout or a conflict: one row of many may be its cause. */
const MOMENT_STATES = /^(40001|40P01|40003|55P03|55006|57014|25P03|25P04|TQ006|TQ008)$/

/**
 * What a statement's failure says about the next attempt.
 *
 * - `server`: nothing works at the moment
 * - `type`: nothing of this type works until somebody has mended it
 * - `moment`: it passes; in a batch one row may be the cause
 * - `row`: this row can't be written like this
 */
export type FailureKind = 'server' | 'type' | 'moment' | 'row'

export function failureKind(error: unknown): FailureKind {
  const state = sqlStateOf(error)
  if (MOMENT_STATES.test(state)) return 'moment'
  if (TYPE_STATES.test(state)) return 'type'
  return isTransient(error) || state === 'CLOSED' ? 'server' : 'row'
}

/** Whether a type should be looked up anew. */
export function hasMoved(error: unknown): boolean {
  return MOVED.test(sqlStateOf(error))
}

/** Of the driver's error, or of ours that was made of it. */
function sqlStateOf(error: unknown): string {
  const { sqlState, code } = (error ?? {}) as { sqlState?: unknown; code?: unknown }
  if (typeof sqlState === 'string') return sqlState
  return typeof code === 'string' ? code : ''
}
