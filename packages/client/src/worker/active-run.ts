import type { Logger } from '../logger/logger.js'
import type { Claimed } from '../task/claimed.js'
import type { HeldRun } from '../task/held-runs.js'
import type { TaskContext } from '../task/task-context.js'

/** Where a run stands: acquired, with its handler, being settled, or out of this worker's hands. */
export type RunPhase = 'queued' | 'running' | 'settling' | 'gone'

/** One task from its acquire to its outcome; also the context that its handler is given. */
export class ActiveRun implements HeldRun, TaskContext {
  readonly id: string
  readonly token: string
  readonly row: Claimed
  readonly attempt: number
  readonly logger: Logger
  readonly suspect: boolean
  phase: RunPhase = 'queued'
  settledByHandler = false
  startedAt = 0
  durationMs = 0
  /** Cancels the timer of the run limit. */
  cancelLimit: (() => void) | undefined
  /** Set when the run limit's grace is over and the task was given back under a running handler. */
  overran = false
  #controller: AbortController | undefined
  #abortReason: Error | undefined

  constructor(row: Claimed, logger: Logger) {
    this.id = row.id
    this.token = row.run_token
    this.row = row
    this.attempt = row.execution_count
    this.logger = logger
    this.suspect = row.lost_count >= 2
  }

  /** Made when it is first asked for: most handlers never do, and a controller each would cost a tenth of a fast one. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  get abortReason(): Error | undefined {
    return this.#abortReason
  }

  /** The first reason stays. */
  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }
}
