import type { State } from './task-row.js'

/** A statement of one session. Tasks are named by id, runs (tokens) and workers by number. */
export type Call =
  | { readonly verb: 'begin' | 'commit' | 'rollback' }
  /** The connection is cut: its transaction rolls back, its session locks go. */
  | { readonly verb: 'cut' }
  | { readonly verb: 'insert'; readonly task: number; readonly priority: number; readonly plannedTo: number }
  | {
      readonly verb: 'acquire'
      readonly max: number
      readonly worker: number | null
      readonly slotsEmpty: boolean
    }
  | { readonly verb: 'rescue' }
  | {
      readonly verb: 'heartbeat'
      readonly worker: number
      readonly runs: readonly number[]
      readonly findStrays: boolean
    }
  | { readonly verb: 'closeLease'; readonly worker: number }
  | { readonly verb: 'finish'; readonly task: number; readonly run: number | null }
  | { readonly verb: 'finishMany'; readonly runs: readonly number[] }
  | {
      readonly verb: 'retry'
      readonly task: number
      readonly run: number | null
      readonly plannedTo?: number
      readonly delayMs?: number
    }
  | { readonly verb: 'release'; readonly task: number; readonly run: number }
  | { readonly verb: 'cancel'; readonly task: number; readonly run: number | null }
  | { readonly verb: 'reset'; readonly task: number }
  | { readonly verb: 'clean'; readonly endedBefore: number; readonly states: readonly FinalState[] }
  | { readonly verb: 'nextDue'; readonly worker: number | null; readonly slotsEmpty: boolean }
  | { readonly verb: 'fallAsleep' | 'wakeUp' | 'stayAwake' | 'stopAwake' | 'nothingInFlight' }

export type Verb = Call['verb']

export type FinalState = Extract<State, 'finished' | 'failed' | 'canceled'>

export type CallOf<V extends Verb> = Extract<Call, { readonly verb: V }>
