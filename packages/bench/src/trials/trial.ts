import type { Client } from 'pg'
import type { Values } from '../measure/metrics.js'
import type { Peer } from '../peers/peer.js'
import type { Participant } from '../peers/peers.js'
import type { Stock } from './acquire-cost.js'

/** One run of one participant, in a process and a database of its own. */
export interface TrialRequest {
  readonly trial: TrialName
  readonly participant: Participant
  readonly url: string
  /** The server's main process, where it is on this machine. */
  readonly postmaster: number | undefined
  readonly parameters: TrialParameters
}

/** How a trial is run; each trial takes what it knows. */
export interface TrialParameters {
  /** How many tasks. */
  readonly count?: number
  /** How many clients at once. */
  readonly clients?: number
  /** Ends a run early that would take too long; what was done until then counts. */
  readonly maxSeconds?: number
  /** Whether handlers write a row of the user's, in one transaction with the task's end where the queue has that. */
  readonly userWrite?: boolean
  /** Holds the lock by which a busy worker of ours tells enqueuers that it will look by itself. */
  readonly workerAwake?: boolean
  /** Replaces our trigger by one that notifies at each insert. */
  readonly notifyAlways?: boolean
  /** Tasks in one statement, where the trial itself sends it. */
  readonly batchSize?: number
  /** What stands in the table, and which statement is measured on it. */
  readonly stock?: Stock
  readonly statement?: 'acquire' | 'next_due'
  readonly analyze?: boolean
  /** Tasks enqueued per second. */
  readonly rate?: number
  /** Worker processes, and task types that the tasks are spread over. */
  readonly processes?: number
  readonly types?: number
  readonly leaseSeconds?: number
  /** Whether the table has twenty columns, five indexes and 2 kB a row of the user's. */
  readonly wide?: boolean
  /** Count statements instead of measuring time: counting costs time. */
  readonly countStatements?: boolean
}

export type TrialName =
  | 'acquireCost'
  | 'bulk'
  | 'copy'
  | 'drain'
  | 'enqueue'
  | 'heartbeats'
  | 'idle'
  | 'inserts'
  | 'latency'
  | 'pinnedSnapshot'
  | 'planned'
  | 'processes'
  | 'serverLimit'
  | 'soak'

/** What a trial works with. */
export interface TrialContext extends TrialRequest {
  readonly peer: Peer
  /** A connection of the benchmark's own. */
  readonly client: Client
}

export type Trial = (context: TrialContext) => Promise<Values>

/** What the process of a trial answers. */
export type TrialAnswer = { readonly values: Values } | { readonly error: string }
