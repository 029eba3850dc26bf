import type { Call } from './call.js'
import type { TaskRow } from './task-row.js'

/** The settings of the task type of a trial. */
export interface Settings {
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly backoffBaseMs: number
  readonly backoffMaxMs: number
  /** storage_time is 0. */
  readonly deletesFinished: boolean
}

export interface Lease {
  readonly worker: number
  readonly leasedUntil: number
}

/** What can be changed in a transaction, by table. */
export interface Rows {
  readonly tasks: TaskRow
  readonly leases: Lease
}

export type Table = keyof Rows

/** One claim of a task: its token is named by its number, which counts from 1. */
export interface Run {
  readonly task: number
  readonly worker: number | null
}

/** Two transactions that hold a lock on one row exclude each other: the model knows no weaker locks. */
export interface Lock {
  readonly table: Table
  readonly key: number
}

/** A call that waits for a row which another session's open transaction holds. */
export interface Waiting {
  readonly call: Call
  readonly lock: Lock
  /** What it had looked at before it had to wait. */
  readonly seen: Seen
}

export interface Seen {
  readonly now: number
  readonly row: TaskRow | Lease
}

/** Whether something happens. PostgreSQL's counters decide a few notifications by what earlier transactions left in them. */
export type Certainty = 'no' | 'maybe' | 'yes'

export interface Session {
  /** In a transaction block. */
  readonly open: boolean
  /** The block has failed and holds nothing any more, but has not ended. */
  readonly failed: boolean
  /** Written and not committed; null: deleted. */
  readonly changes: { readonly [T in Table]: ReadonlyMap<number, Rows[T] | null> }
  readonly locks: { readonly [T in Table]: ReadonlySet<number> }
  /** The transaction holds INFLIGHT. */
  readonly inFlight: boolean
  /** Its commit notifies. */
  readonly notifies: Certainty
  readonly waiting: Waiting | null
  /** The session holds SLEEP. */
  readonly asleep: boolean
  /** The session holds AWAKE. */
  readonly awake: boolean
}

/** All there is, as plain values: what is committed, and what each session has open. */
export interface World {
  readonly settings: Settings
  readonly now: number
  readonly rows: { readonly [T in Table]: ReadonlyMap<number, Rows[T]> }
  readonly sessions: readonly Session[]
  readonly runs: readonly Run[]
  /** Ids are given by the trial; one that was rolled back isn't given again. */
  readonly lastId: number
}

/** What a transaction has at its beginning and loses with its end. */
export const NOTHING_OPEN = {
  open: false,
  failed: false,
  changes: { tasks: new Map(), leases: new Map() },
  locks: { tasks: new Set(), leases: new Set() },
  inFlight: false,
  notifies: 'no',
  waiting: null,
} as const satisfies Partial<Session>

export function newWorld(settings: Settings, sessions: number): World {
  return {
    settings,
    now: 0,
    rows: { tasks: new Map(), leases: new Map() },
    sessions: Array.from({ length: sessions }, () => ({ ...NOTHING_OPEN, asleep: false, awake: false })),
    runs: [],
    lastId: 0,
  }
}
