import type { GoneReason, TaskState, TypeDescription } from '@pg-tasks/sql'
import { isClosing } from '../errors/connection-errors.js'
import { describeThrown } from '../errors/describe-thrown.js'
import type { ActiveRun } from './active-run.js'
import { isOwnDoing, type SingleOutcome } from './outcome.js'
import { type TypeContext, taskReference, typeReference } from './type-context.js'

/** Tells by events and log lines what has become of a run. */
export class OutcomeReport {
  readonly #context: TypeContext
  readonly #type: () => TypeDescription

  constructor(context: TypeContext, type: () => TypeDescription) {
    this.#context = context
    this.#type = type
  }

  finished(run: ActiveRun): void {
    this.#emit('finished', run)
  }

  released(run: ActiveRun): void {
    this.#context.events.emit('released', taskReference(this.#type(), run))
  }

  lost(run: ActiveRun, reason: string): void {
    this.#context.logger.warn({ ...taskReference(this.#type(), run), reason }, 'A run ended after its task was lost')
    this.#context.events.emit('lost', { ...taskReference(this.#type(), run), reason })
  }

  /** An outcome was written, with this state as result. */
  written(run: ActiveRun, outcome: SingleOutcome, state: TaskState | undefined): void {
    switch (outcome.kind) {
      case 'retry':
        this.#retried(run, outcome.error, outcome.reason, state ?? 'ready')
        return
      case 'cancel':
        this.#emit('canceled', run)
        return
      case 'release':
        if (state === undefined) this.lost(run, 'stale')
        else this.released(run)
    }
  }

  /** What a look has found of a run whose handler settled it. */
  found(run: ActiveRun, reason: GoneReason | 'stale'): void {
    const { settled } = run
    if (reason === 'finished' || (reason === 'missing' && this.#type().storageMs === 0)) this.finished(run)
    else if (settled === undefined || reason === 'stale' || !isOwnDoing(settled, reason)) this.lost(run, reason)
    else if (settled.verb === 'cancel') this.#emit('canceled', run)
    else if (settled.verb === 'retry') this.#retried(run, undefined, 'error', settled.state ?? 'ready')
    else this.lost(run, reason)
  }

  /** A statement succeeded. */
  recovered(kind: string, message: string): void {
    this.#context.failures.recovered(`${kind} ${this.#type().table}`, message)
  }

  /** A statement has failed and will be tried again. */
  failure(kind: string, error: unknown, message: string): void {
    if (isClosing(error)) return
    this.#context.failures.failed(
      `${kind} ${this.#type().table}`,
      { ...typeReference(this.#type()), error: describeThrown(error) },
      message,
    )
    this.#context.events.emit('error', error, typeReference(this.#type()))
  }

  #retried(run: ActiveRun, error: unknown, reason: 'error' | 'run_limit', state: TaskState): void {
    const { events, logger } = this.#context
    const reference = { ...taskReference(this.#type(), run), durationMs: run.durationMs, error }
    const fields = {
      ...taskReference(this.#type(), run),
      error: error === undefined ? undefined : describeThrown(error),
    }
    if (state === 'failed') {
      logger.error(fields, 'Task failed: its executions are used up')
      events.emit('failed', { ...reference, reason })
    } else {
      logger.warn(fields, 'Task will be retried')
      events.emit('retried', { ...reference, state })
    }
  }

  #emit(event: 'finished' | 'canceled', run: ActiveRun): void {
    const { events } = this.#context
    if (events.listenerCount(event) === 0) return
    events.emit(event, { ...taskReference(this.#type(), run), durationMs: run.durationMs })
  }
}
