import type { GoneReason, TaskState, TypeDescription } from '@pg-tasks/sql'
import { isClosing } from '../../errors/connection-errors.js'
import { describeThrown } from '../../errors/describe-thrown.js'
import { NotSettledError } from '../../errors/run-errors.js'
import type { ActiveRun } from '../run/active-run.js'
import { type TypeContext, taskReference, typeReference } from '../type/type-context.js'
import { describeFailure, isPlainRetry } from './describe-failure.js'
import { isOwnDoing, type SingleOutcome } from './outcome.js'

type RetryOutcome = Extract<SingleOutcome, { kind: 'retry' }>

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
        this.#retried(run, outcome, state ?? 'ready')
        return
      case 'cancel':
        this.#emit('canceled', run)
        return
      case 'release':
        if (state === undefined) this.lost(run, 'stale')
        else this.released(run)
    }
  }

  /**
   * What a look has found of a run whose handler settled it.
   *
   * @param otherwise - what would have been written, had it found the task running
   */
  found(run: ActiveRun, reason: GoneReason | 'stale', otherwise?: SingleOutcome): void {
    const { settled } = run
    if (reason === 'finished' || (reason === 'missing' && this.#type().storageMs === 0)) this.finished(run)
    else if (reason === 'stale' || !isOwnDoing(settled, reason)) {
      this.lost(run, reason)
      return
    } else if (settled?.verb === 'cancel') this.#emit('canceled', run)
    else if (settled?.verb === 'retry') this.#retried(run, undefined, settled.retried?.state ?? 'ready')
    else this.lost(run, reason)
    this.#threwAfterwards(run, otherwise)
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

  /** @param outcome - undefined: the handler itself called `retry` */
  #retried(run: ActiveRun, outcome: RetryOutcome | undefined, state: TaskState): void {
    const { events, logger } = this.#context
    const reference = { ...taskReference(this.#type(), run), durationMs: run.durationMs, error: outcome?.error }
    const fields = {
      ...taskReference(this.#type(), run),
      ...(outcome !== undefined && { error: describeFailure(outcome.error) }),
    }
    if (state === 'failed') {
      logger.error(fields, 'Task failed: its executions are used up')
      events.emit('failed', { ...reference, reason: outcome?.reason ?? 'error' })
    } else {
      // A handler that says when to go on is not one that broke.
      const asked = outcome === undefined || isPlainRetry(outcome.error)
      logger[asked ? 'info' : 'warn'](fields, 'Task will be retried')
      events.emit('retried', { ...reference, state })
    }
  }

  /** The task has its outcome, so this is stored nowhere, and nothing is run again for it. */
  #threwAfterwards(run: ActiveRun, otherwise: SingleOutcome | undefined): void {
    if (otherwise?.kind !== 'retry' || otherwise.error instanceof NotSettledError) return
    // It was asked to end: a cancel that this process has asked for looks as the handler's own.
    if (run.abortReason !== undefined) return
    const { logger, events } = this.#context
    const fields = { ...taskReference(this.#type(), run), error: describeFailure(otherwise.error) }
    logger.error(fields, 'A handler threw after its task was settled, so it is not run again for that')
    events.emit('error', otherwise.error, typeReference(this.#type()))
  }

  #emit(event: 'finished' | 'canceled', run: ActiveRun): void {
    const { events } = this.#context
    if (events.listenerCount(event) === 0) return
    events.emit(event, { ...taskReference(this.#type(), run), durationMs: run.durationMs })
  }
}
