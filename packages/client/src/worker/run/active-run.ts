import type { Connection, Queryable } from '@pg-tasks/sql'
import { InvalidArgumentError } from '../../errors/invalid-argument-error.js'
import type { TaskLogger } from '../../logger/logger.js'
import type { Claimed } from '../../task/claimed.js'
import type { HeldRun, SettledByHandler } from '../../task/held-runs.js'
import type { TaskContext } from '../../task/task-context.js'
import type { Steps, Work } from './steps.js'

/** Where a run stands: acquired, with its handler, being settled, or out of this worker's hands. */
export type RunPhase = 'queued' | 'running' | 'settling' | 'gone'

/** One task from its acquire to its outcome; also the context that its handler is given. */
export class ActiveRun implements HeldRun, TaskContext {
  readonly id: string
  readonly token: string
  readonly row: Claimed
  readonly attempt: number
  readonly logger: TaskLogger
  readonly suspect: boolean
  phase: RunPhase = 'queued'
  settled: SettledByHandler | undefined
  /** How often its outcome could not be written. */
  failures = 0
  startedAt = 0
  durationMs = 0
  /** Cancels the timer of the run limit, or of the grace after an abort. */
  cancelTimer: (() => void) | undefined
  /** Where it is run and settled in a transaction of the worker's. */
  transaction: Queryable | undefined
  /** Told of an abort, where nobody needs a signal for it. */
  onAborted: (() => void) | undefined
  #controller: AbortController | undefined
  #abortReason: Error | undefined
  readonly #steps: Steps

  constructor(row: Claimed, logger: TaskLogger, steps: Steps) {
    this.id = row.id
    this.token = row.run_token
    this.row = row
    this.attempt = row.execution_count
    this.logger = logger
    this.suspect = row.lost_count >= 2
    this.#steps = steps
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
    this.onAborted?.()
  }

  get tx(): Queryable {
    if (this.transaction !== undefined) return this.transaction
    throw new InvalidArgumentError('tx', "is there in tasks with the option settle: 'one_transaction', and only there.")
  }

  /** Made bound when it is asked for: handlers take their context apart. */
  get once(): TaskContext['once'] {
    const once = async (...args: StepArguments): Promise<unknown> => {
      if (args.length === 3) return this.#steps.within(this, ...args)
      if (this.transaction === undefined) return this.#steps.apart(this, ...args)
      // Until the commit nobody else sees that this run has the task.
      throw new InvalidArgumentError('connection', 'is missing: a task in one transaction calls once(tx, step, work).')
    }
    return once as TaskContext['once']
  }
}

type StepArguments = [step: string, work: Work<unknown>] | [connection: Connection, step: string, work: Work<unknown>]
