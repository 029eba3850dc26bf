import type { ActiveRun } from './active-run.js'

/** What slots tell their runner, and ask it. */
export interface SlotsListener {
  /** There is room again for what may be acquired. */
  readonly onRoom: () => void
  /** Calls the task's handler. */
  readonly call: (run: ActiveRun) => unknown
  /** Whether others may have what is held; then the worker asks, and tells with `goOn` when it knows. */
  readonly leaseOverdue: () => boolean
}
