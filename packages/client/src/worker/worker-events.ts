import type { FailureReason, TaskState } from '@pg-tasks/sql'

/** Which task an event is about. */
export interface TaskReference {
  readonly schema: string
  readonly table: string
  readonly id: string
  /** Which execution, from 1. */
  readonly attempt: number
}

/** Which task type an event is about. */
export interface TypeReference {
  readonly schema: string
  readonly table: string
}

/** What a {@link Worker} tells; listeners that throw are logged and harm nobody. */
export interface WorkerEvents {
  /** The database has answered, all types are looked after, and notifications arrive or it is known that they don't. */
  ready: []
  /** Notifications arrive (again). */
  listening: []
  /** Notifications don't arrive; tasks are found by polling. */
  not_listening: [reason: Error]
  /** Tasks were acquired; they start as slots are free. */
  acquired: [type: TypeReference & { readonly count: number }]
  /** A handler begins. */
  started: [task: TaskReference]
  /** The task is finished in the database. */
  finished: [task: TaskReference & { readonly durationMs: number }]
  /** It waits for another execution. */
  retried: [task: TaskReference & { readonly durationMs: number; readonly error: unknown; readonly state: TaskState }]
  /** Its executions are used up. */
  failed: [
    task: TaskReference & { readonly durationMs: number; readonly error: unknown; readonly reason: FailureReason },
  ]
  /** It canceled itself. */
  canceled: [task: TaskReference & { readonly durationMs: number }]
  /** It was given back without counting the execution. */
  released: [task: TaskReference]
  /** The run lost its task to somebody else: it was canceled, reset, deleted or taken over. */
  lost: [task: TaskReference & { readonly reason: string }]
  /** A handler did not end in time after its signal was aborted. */
  overrun: [task: TaskReference & { readonly durationMs: number }]
  /** Tasks of dead workers were brought back. */
  rescued: [type: TypeReference & { readonly count: number }]
  /** Occurrences of a schedule were handled. */
  scheduled: [schedule: { readonly key: string; readonly enqueued: number; readonly dropped: number }]
  /** A schedule was paused because it can't be planned or its task can't be enqueued. */
  schedule_refused: [schedule: { readonly key: string; readonly error: string }]
  /**
   * Maintenance deleted rows of a table that were past their time, or had to leave some: `kept` of them (counted up to 1,000
   * per state), because of `reason`.
   */
  cleaned: [
    rows: { readonly what: string; readonly deleted: number; readonly kept: number; readonly reason: string | null },
  ]
  /** Something went wrong that the worker copes with by itself; it never ends the process. */
  error: [error: unknown, type: TypeReference | undefined]
  /** `stop()` was called, or a signal came: no new tasks. */
  stopping: []
  /** Everything has ended, and the worker's connections are closed. */
  stopped: []
}
