import type { Logger } from '../logger/logger.js'

/** What a handler is given besides its task. */
export interface TaskContext {
  /**
   * Aborted when the run should stop: its task was canceled, reset or taken over (reason: `LeaseLostError`), its run limit
   * has passed (`RunLimitError`), or the worker stops and its patience is over (`WorkerStoppingError`).
   */
  readonly signal: AbortSignal
  /** Which execution this is, from 1. */
  readonly attempt: number
  /** The worker's logger. */
  readonly logger: Logger
}
