import {
  beginStep,
  type Connection,
  markStep,
  type Queryable,
  type Run,
  type TypeDescription,
  toQueryable,
} from '@pg-tasks/sql'
import { backoffDelay } from '../backoff/backoff.js'
import { describeThrown } from '../errors/describe-thrown.js'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { isTransient } from '../errors/is-transient.js'
import type { StepContext } from '../task/task-context.js'
import { sleep } from '../timers/sleep.js'
import type { TypeContext } from './type-context.js'

/** The work is done; its mark is worth waiting for. */
const MARK_WAIT = { baseMs: 50, maxMs: 2_000 }

/** Does steps of the runs of one type, and marks them. */
export class Steps {
  readonly #context: TypeContext
  readonly #type: () => TypeDescription

  constructor(context: TypeContext, type: () => TypeDescription) {
    this.#context = context
    this.#type = type
  }

  /** @param connection - the caller's; without one, the mark is a transaction of its own on a session of the worker's */
  async once<Value>(
    run: Run & { readonly abortReason: Error | undefined },
    connection: Connection | undefined,
    step: string,
    work: (context: StepContext) => Promise<Value>,
  ): Promise<Value> {
    if (typeof step !== 'string' || step === '' || step.includes('\u0000')) {
      throw new InvalidArgumentError('step', 'must be a text that is not empty: the name of the step.')
    }
    if (typeof work !== 'function') throw new InvalidArgumentError('work', 'must be a function.')
    const queryable: Queryable = connection === undefined ? this.#context.settling : toQueryable(connection)
    const { tableId } = this.#type()
    try {
      const { marked, value, idempotencyKey } = await beginStep(queryable, tableId, run, step)
      if (marked) return value as Value
      const done = await work(Object.freeze({ idempotencyKey }))
      const json = this.#asJson(run, step, done)
      if (connection === undefined) await this.#untilMarked(run, () => markStep(queryable, tableId, run, step, json))
      else await markStep(queryable, tableId, run, step, json)
      return done
    } catch (error) {
      throw fromDatabaseError(error)
    }
  }

  async #untilMarked(run: { readonly abortReason: Error | undefined }, mark: () => Promise<void>): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      try {
        await mark()
        return
      } catch (error) {
        if (!isTransient(error) || run.abortReason !== undefined) throw error
        this.#context.failures.failed(
          'mark',
          { error: describeThrown(error) },
          'A step could not be marked; trying again',
        )
        await sleep(backoffDelay(failures, MARK_WAIT))
      }
    }
  }

  /** The step is done: a value that can't be stored must not make it be done again. */
  #asJson(run: Run, step: string, value: unknown): string | null {
    try {
      // jsonb has no NUL.
      return JSON.stringify(value)?.replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\\ufffd') ?? null
    } catch (error) {
      this.#context.logger.warn(
        { id: run.id, step, error: describeThrown(error) },
        'The value of a step is no JSON; it is marked with null',
      )
      return null
    }
  }
}
