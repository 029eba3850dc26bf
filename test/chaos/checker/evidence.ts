import type { HistoryEvent } from '../history.js'
import type { ChaosType } from '../load/task-types.js'

/** The states of the ledger: whether a waiting task is due, it doesn't say. */
export type LedgerState = 'waiting' | 'running' | 'finished' | 'failed' | 'canceled'

/** One committed change of a row, in the order of their numbers. */
export interface Transition {
  readonly id: number
  /** Milliseconds of the machine's monotonic clock. */
  readonly at: number
  /** The transaction. */
  readonly xid: string
  readonly table: string
  readonly taskId: string
  readonly ref: string | null
  readonly kind: string
  readonly account: string | null
  readonly generation: number
  /** Null: the row was inserted. */
  readonly from: LedgerState | null
  /** Null: the row was deleted. */
  readonly to: LedgerState | null
  readonly oldToken: string | null
  readonly newToken: string | null
  readonly worker: string | null
  readonly attempt: number
  readonly plannedTo: number
  readonly held: boolean
  /** Whether it was brought back from a run that was lost. */
  readonly lost: boolean
  /** When the lost run's lease ended. */
  readonly leaseUntil: number | null
  readonly scheduleKey: string | null
  readonly occurrenceAt: string | null
}

/** What the transaction of a handler has left. */
export interface Effect {
  readonly what: 'finish' | 'retry' | 'step'
  readonly at: number
  readonly xid: string
  readonly table: string
  readonly taskId: string
  readonly generation: number
  readonly token: string
  readonly attempt: number
}

/** A reset by the operator; the generation is the one that it ended. */
export interface Reset {
  readonly xid: string
  readonly table: string
  readonly taskId: string
  readonly generation: number
  readonly found: string
  readonly forgot: boolean
}

export interface Occurrence {
  readonly key: string
  readonly at: string
  readonly atMs: number
  readonly outcome: string
  readonly taskId: string | null
}

export interface Schedule {
  readonly key: string
  readonly everyMs: number
  readonly dropped: number
  readonly lastError: string | null
}

/** A group, as it is in the end. */
export interface Group {
  readonly key: string
  readonly ended: boolean
  readonly error: string | null
}

/** What was found after the drain, before and after the workers were stopped. */
export interface Remains {
  /** Lines that name what should not be there. */
  readonly found: readonly string[]
  /** Tasks that are not ended, although everything had time to. */
  readonly unfinished: ReadonlyArray<{ readonly table: string; readonly id: string; readonly state: string }>
}

/** All that is known when a run is over. */
export interface Evidence {
  readonly types: readonly ChaosType[]
  readonly events: readonly HistoryEvent[]
  readonly transitions: readonly Transition[]
  /** The transitions of a task, in order; the key is {@link taskKey}. */
  readonly byTask: ReadonlyMap<string, readonly Transition[]>
  readonly effects: readonly Effect[]
  readonly resets: readonly Reset[]
  readonly occurrences: readonly Occurrence[]
  readonly schedules: readonly Schedule[]
  readonly groups: readonly Group[]
  readonly remains: Remains
}

/** Something that must never be. */
export interface Violation {
  readonly check: string
  readonly message: string
  /** The task concerned, if it is about one. */
  readonly task?: { readonly table: string; readonly id: string }
  /** When, if it isn't. */
  readonly at?: number
}

export function taskKey(table: string, id: string): string {
  return `${table} ${id}`
}
