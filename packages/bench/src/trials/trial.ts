import type { Client } from 'pg'
import type { Values } from '../measure/metrics.js'
import type { Peer } from '../peers/peer.js'
import type { Participant } from '../peers/peers.js'

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
  /** Count statements instead of measuring time: counting costs time. */
  readonly countStatements?: boolean
}

export type TrialName = 'drain' | 'enqueue' | 'bulk' | 'copy' | 'latency' | 'planned' | 'idle'

/** What a trial works with. */
export interface TrialContext extends TrialRequest {
  readonly peer: Peer
  /** A connection of the benchmark's own. */
  readonly client: Client
}

export type Trial = (context: TrialContext) => Promise<Values>

/** What the process of a trial answers. */
export type TrialAnswer = { readonly values: Values } | { readonly error: string }
