import { cancel, finishMany, heartbeat, release, retry, type TypeDescription } from '@pg-tasks/sql'
import { backoffDelay } from '../backoff/backoff.js'
import { TaskNotFoundError, TaskNotRunningError } from '../errors/database-errors.js'
import { describeThrown } from '../errors/describe-thrown.js'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { isTransient } from '../errors/is-transient.js'
import { NotSettledError, WorkerStoppingError } from '../errors/run-errors.js'
import { sleep } from '../timers/sleep.js'
import type { ActiveRun } from './active-run.js'
import type { Outcome } from './outcome.js'
import { type TypeContext, taskReference, typeReference } from './type-context.js'

/** Most runs in one finish. */
const MOST_AT_ONCE = 1_000

const RETRY_WAIT = { baseMs: 50, maxMs: 5_000 }
/** For errors that somebody has to mend: revoked rights, a trigger that refuses. */
const PERMANENT_WAIT = { baseMs: 1_000, maxMs: 60_000 }

/**
 * Brings outcomes to the database: finishes in batches, the rest one by one, each in a fresh transaction. An outcome that
 * can't be written yet is tried again until it is written or the task is no longer this run's; until then the run is held,
 * because the worker's lease covers it.
 */
export class Settler {
  readonly #context: TypeContext
  readonly #type: () => TypeDescription
  readonly #onSettled: (run: ActiveRun) => void
  readonly #finishing: ActiveRun[] = []
  readonly #looking: Array<{ readonly run: ActiveRun; readonly error: unknown }> = []
  #flushing: Promise<void> | undefined
  #single: Promise<void> = Promise.resolve()
  readonly #abandoned = new AbortController()
  #unsettled = 0

  constructor(context: TypeContext, type: () => TypeDescription, onSettled: (run: ActiveRun) => void) {
    this.#context = context
    this.#type = type
    this.#onSettled = onSettled
  }

  /** Runs whose handler has ended and whose outcome isn't written yet. */
  get unsettled(): number {
    return this.#unsettled
  }

  settle(run: ActiveRun, outcome: Outcome): void {
    this.#unsettled += 1
    switch (outcome.kind) {
      case 'finish':
        this.#finishing.push(run)
        this.#flush()
        return
      case 'look':
        this.#looking.push({ run, error: outcome.error })
        this.#flush()
        return
      case 'retry':
      case 'cancel':
      case 'release':
        this.#single = this.#single.then(() => this.#settleAlone(run, outcome))
    }
  }

  /** Gives runs back that were not started. */
  async releaseUnstarted(runs: readonly ActiveRun[]): Promise<void> {
    if (runs.length === 0) return
    await this.#untilAnswered(() => release(this.#context.settling, this.#type(), runs))
    for (const run of runs) this.#context.events.emit('released', taskReference(this.#type(), run))
  }

  /** Waits until every outcome so far is written. */
  async drain(): Promise<void> {
    while (this.#unsettled > 0 && !this.#abandoned.signal.aborted) {
      await this.#flushing
      await this.#single
    }
  }

  /** Gives up on what can't be written now. */
  abandon(): void {
    this.#abandoned.abort()
  }

  /** Several handlers that end in the same turn share a statement. */
  #flush(): void {
    this.#flushing ??= new Promise<void>((resolve) => setImmediate(resolve))
      .then(async () => {
        while (this.#finishing.length > 0 || this.#looking.length > 0) {
          if (this.#finishing.length > 0) await this.#finishBatch(this.#finishing.splice(0, MOST_AT_ONCE))
          if (this.#looking.length > 0) await this.#look(this.#looking.splice(0, MOST_AT_ONCE))
        }
      })
      .catch((error: unknown) => {
        // Abandoned: the leases bring the tasks back.
        if (!(error instanceof WorkerStoppingError)) throw error
      })
      .finally(() => {
        this.#flushing = undefined
        const more = this.#finishing.length > 0 || this.#looking.length > 0
        if (more && !this.#abandoned.signal.aborted) this.#flush()
      })
  }

  async #finishBatch(runs: readonly ActiveRun[]): Promise<void> {
    let waiting = runs
    for (let failures = 0; waiting.length > 0; failures += 1) {
      if (failures > 0) await this.#pause(backoffDelay(failures, RETRY_WAIT))
      waiting = waiting.filter((run) => run.phase !== 'gone' || this.#done(run))
      if (waiting.length === 0) return
      try {
        const left = await finishMany(this.#context.settling, this.#type(), waiting)
        this.#context.failures.recovered('finish', 'Tasks are finished again')
        if (left.length === 0) {
          for (const run of waiting) this.#finished(run)
          return
        }
        waiting = this.#sortOut(waiting, new Map(left.map((one) => [one.id, one.outcome])))
      } catch (error) {
        if (!isTransient(error) && waiting.length > 1) {
          // One row may be the one that can't be finished: the others shall not suffer for it.
          for (const run of waiting) await this.#finishBatch([run])
          return
        }
        this.#context.failures.failed(
          'finish',
          { error: describeThrown(error) },
          'Tasks could not be finished; trying again',
        )
        this.#context.events.emit('error', error, typeReference(this.#type()))
        if (!isTransient(error)) {
          for (const run of waiting) {
            await this.#settleAlone(run, { kind: 'retry', error, reason: 'error', options: {} })
          }
          return
        }
      }
    }
  }

  /** @returns those to be tried again */
  #sortOut(runs: readonly ActiveRun[], outcomes: ReadonlyMap<string, string>): ActiveRun[] {
    return runs.filter((run) => {
      switch (outcomes.get(run.id)) {
        case undefined:
        case 'finished': // by this token, in an attempt whose answer was lost
          this.#finished(run)
          return false
        case 'locked':
          return true
        case 'missing':
          if (this.#type().storageMs === 0) this.#finished(run)
          else this.#lost(run, 'missing')
          return false
        default:
          this.#lost(run, 'stale')
          return false
      }
    })
  }

  /** Which of the runs that their handler settled are still running: nothing was committed for those. */
  async #look(looks: ReadonlyArray<{ readonly run: ActiveRun; readonly error: unknown }>): Promise<void> {
    const runs = looks.map(({ run }) => run)
    const result = await this.#untilAnswered(() =>
      heartbeat(this.#context.settling, this.#type(), this.#context.workerId, runs),
    )
    const gone = new Map(result.gone.map(({ id, reason }) => [id, reason]))
    for (const { run, error } of looks) {
      const reason = gone.get(run.id)
      if (reason === undefined) {
        const cause = error ?? new NotSettledError(run.settledByHandler)
        await this.#settleAlone(run, { kind: 'retry', error: cause, reason: 'error', options: {} })
      } else if (reason === 'finished' || (reason === 'missing' && this.#type().storageMs === 0)) {
        this.#finished(run)
      } else if (reason === 'canceled' && run.settledByHandler) {
        this.#emit('canceled', run)
        this.#done(run)
      } else if (run.settledByHandler) {
        this.#done(run)
      } else {
        this.#lost(run, reason)
      }
    }
  }

  async #settleAlone(run: ActiveRun, outcome: Exclude<Outcome, { kind: 'finish' | 'look' }>): Promise<void> {
    if (run.phase === 'gone') {
      this.#done(run)
      return
    }
    try {
      await this.#untilAnswered(() => this.#write(run, outcome), run)
    } catch (error) {
      if (error instanceof TaskNotRunningError || error instanceof TaskNotFoundError) {
        // Also after a lost answer to a write that was done: the next acquire tells, nothing is left to do here.
        this.#lost(run, 'stale')
        return
      }
      if (error instanceof WorkerStoppingError) return
      throw error
    }
    this.#done(run)
  }

  async #write(run: ActiveRun, outcome: Exclude<Outcome, { kind: 'finish' | 'look' }>): Promise<void> {
    const { settling } = this.#context
    const type = this.#type()
    switch (outcome.kind) {
      case 'retry': {
        const { delayMs, plannedTo, comment } = outcome.options
        const error = describeThrown(outcome.error)
        const state = await retry(settling, type, run.id, {
          delayMs,
          plannedTo,
          comment,
          error,
          token: run.token,
          reason: outcome.reason,
        })
        this.#retried(run, outcome, state)
        return
      }
      case 'cancel':
        await cancel(settling, type, run.id, { comment: outcome.comment, token: run.token })
        this.#emit('canceled', run)
        return
      case 'release':
        await release(settling, type, [run])
        this.#context.events.emit('released', taskReference(type, run))
    }
  }

  #retried(
    run: ActiveRun,
    outcome: Extract<Outcome, { kind: 'retry' }>,
    state: Awaited<ReturnType<typeof retry>>,
  ): void {
    const { events, logger } = this.#context
    const reference = { ...taskReference(this.#type(), run), durationMs: run.durationMs, error: outcome.error }
    const fields = {
      task: `${reference.schema}.${reference.table}`,
      id: run.id,
      attempt: run.attempt,
      error: describeThrown(outcome.error),
    }
    if (state === 'failed') {
      logger.error(fields, 'Task failed: its executions are used up')
      events.emit('failed', { ...reference, reason: outcome.reason })
    } else {
      logger.warn(fields, 'Task will be retried')
      events.emit('retried', { ...reference, state })
    }
  }

  /** Repeats a write through everything that passes by itself; other errors of the database's are repeated more slowly. */
  async #untilAnswered<Value>(write: () => Promise<Value>, run?: ActiveRun): Promise<Value> {
    for (let failures = 1; ; failures += 1) {
      try {
        const value = await write()
        this.#context.failures.recovered('settle', 'Outcomes are written again')
        return value
      } catch (raised) {
        const error = fromDatabaseError(raised)
        if (error instanceof TaskNotRunningError || error instanceof TaskNotFoundError) throw error
        this.#context.failures.failed(
          'settle',
          { error: describeThrown(error) },
          'An outcome could not be written; trying again',
        )
        this.#context.events.emit('error', error, typeReference(this.#type()))
        await this.#pause(backoffDelay(failures, isTransient(error) ? RETRY_WAIT : PERMANENT_WAIT))
        if (run?.phase === 'gone') throw new TaskNotRunningError(`Task ${run.id} is no longer this run's`)
      }
    }
  }

  async #pause(delayMs: number): Promise<void> {
    const { signal } = this.#abandoned
    await sleep(delayMs, { signal })
    if (signal.aborted) throw new WorkerStoppingError()
  }

  #finished(run: ActiveRun): void {
    this.#emit('finished', run)
    this.#done(run)
  }

  #lost(run: ActiveRun, reason: string): void {
    this.#context.logger.warn({ ...taskReference(this.#type(), run), reason }, 'A run ended after its task was lost')
    this.#context.events.emit('lost', { ...taskReference(this.#type(), run), reason })
    this.#done(run)
  }

  #emit(event: 'finished' | 'canceled', run: ActiveRun): void {
    const { events } = this.#context
    if (events.listenerCount(event) === 0) return
    events.emit(event, { ...taskReference(this.#type(), run), durationMs: run.durationMs })
  }

  #done(run: ActiveRun): false {
    this.#unsettled -= 1
    this.#onSettled(run)
    return false
  }
}
