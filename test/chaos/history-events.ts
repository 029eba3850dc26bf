import type { Fault } from './faults/fault.js'

/** A task, wherever it is spoken of. */
export interface TaskKey {
  readonly table: string
  readonly id: string
}

/** One execution of a task: what it was acquired with. */
export interface RunKey extends TaskKey {
  readonly token: string
  readonly attempt: number
  /** How often the task had been reset when it was acquired. */
  readonly generation: number
}

/** How a call ended for the caller: `unknown` if the answer was lost. */
export type CallOutcome = 'acknowledged' | 'refused' | 'unknown'

/** All kinds of events, with what is noted besides process and time. */
export interface HistoryEvents {
  // The program itself.
  readonly chaos_started: { readonly seed: string; readonly wallMs: number }
  readonly load_ended: object
  readonly drained: { readonly afterMs: number }
  readonly fault_began: { readonly index: number; readonly fault: Fault }
  readonly fault_ended: { readonly index: number; readonly outcome: string }
  readonly server_ended: object
  readonly server_back: object
  /** Between these two the server acknowledges what a failover will lose. */
  readonly forgetting_began: object
  readonly forgetting_ended: object
  readonly process_started: { readonly name: string; readonly pid: number }
  readonly process_ended: {
    readonly name: string
    readonly pid: number
    readonly code: number | null
    readonly signal: string | null
    /** Whether the program ended it. */
    readonly wanted: boolean
    /** Whether it was asked to stop and didn't. */
    readonly overdue: boolean
    readonly lastWords: readonly string[]
  }

  // Whoever enqueues. A `ref` names a task before it has an id.
  readonly enqueue_asked: { readonly table: string; readonly refs: readonly string[] }
  readonly enqueue_ended: {
    readonly table: string
    readonly refs: readonly string[]
    readonly ids: readonly string[]
    readonly outcome: CallOutcome | 'rolled_back'
  }
  readonly operator_asked: TaskKey & { readonly verb: string }
  readonly operator_ended: TaskKey & {
    readonly verb: string
    readonly outcome: CallOutcome
    /** The state in which the task was found, or how many tasks. */
    readonly found?: string | number
    readonly error?: string
  }

  // Whoever runs tasks.
  readonly worker_started: { readonly workerId: string; readonly pid: number; readonly clockShiftMs: number }
  readonly worker_stopped: object
  readonly run_started: RunKey & { readonly kind: string; readonly workerId: string | null }
  readonly run_ended: RunKey & { readonly threw?: string }
  readonly run_aborted: RunKey & { readonly reason: string }
  readonly effect_asked: RunKey
  readonly effect_ended: RunKey & { readonly outcome: CallOutcome; readonly error?: string }
  readonly outside_done: RunKey & { readonly step: string; readonly key: string }
  readonly step_ended: RunKey & { readonly step: string; readonly outcome: CallOutcome; readonly error?: string }
  readonly blocked: { readonly ms: number }
  readonly worker_event: { readonly name: string; readonly workerId: string } & Partial<TaskKey> & {
      readonly attempt?: number
      readonly detail?: string
    }
  readonly worker_log: { readonly level: string; readonly message: string; readonly fields: object }
  readonly memory: { readonly heapMb: number; readonly rssMb: number }
}
