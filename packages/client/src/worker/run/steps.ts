import {
  beginStep,
  type Connection,
  markStep,
  type Queryable,
  type Run,
  type TypeDescription,
  toQueryable,
} from '@pg-tasks/sql'
import { backoffDelay } from '../../backoff/backoff.js'
import { TaskInUseError } from '../../errors/database-errors.js'
import { describeThrown } from '../../errors/describe-thrown.js'
import { fromDatabaseError } from '../../errors/from-database-error.js'
import { InvalidArgumentError } from '../../errors/invalid-argument-error.js'
import { isOutcomeRefused } from '../../errors/is-outcome-refused.js'
import { isTransient } from '../../errors/is-transient.js'
import type { SettledByHandler } from '../../task/held-runs.js'
import type { StepContext } from '../../task/task-context.js'
import { sleep } from '../../timers/sleep.js'
import { type TypeContext, typeReference } from '../type/type-context.js'
import { decodeStepValue, encodeStepValue } from './step-value.js'

const RETRY_WAIT = { baseMs: 50, maxMs: 2_000 }

/** How long another transaction may hold the task before a step is begun, in milliseconds: nothing is lost yet. */
const BEGIN_PATIENCE_MS = 2_000

/** The same where the step is done, whose mark is worth waiting for. */
const MARK_PATIENCE_MS = 30_000

/** The same where the handler has settled its task: its own transaction holds it, and waits for the step. */
const OWN_PATIENCE_MS = 1_000

const LONGEST_NAME = 1_000

/** Does one step. */
export type Work<Value> = (context: StepContext) => Promise<Value>

/** A run, as far as its steps are concerned. */
export interface SteppingRun extends Run {
  readonly abortReason: Error | undefined
  readonly settled: SettledByHandler | undefined
}

/** What steps need of their worker. */
export type StepsContext = Pick<TypeContext, 'logger' | 'failures'> & { readonly settling: Queryable }

/** Does steps of the runs of one type, and marks them. */
export class Steps {
  readonly #context: StepsContext
  readonly #type: () => TypeDescription
  readonly #underWay = new WeakMap<SteppingRun, Set<string>>()

  constructor(context: StepsContext, type: () => TypeDescription) {
    this.#context = context
    this.#type = type
  }

  /** The mark is a transaction of its own, on a session of the worker's. */
  apart(run: SteppingRun, step: string, work: Work<unknown>): Promise<unknown> {
    return this.#alone(run, step, work, async () => {
      const { settling } = this.#context
      const { marked, value, idempotencyKey } = await this.#untilAnswered(run, BEGIN_PATIENCE_MS, () =>
        beginStep(settling, this.#type().tableId, run, step, { apart: true }),
      )
      if (marked) return decodeStepValue(value)
      let json = this.#encode(run, step, await work(Object.freeze({ idempotencyKey })))
      const mark = () => markStep(settling, this.#type().tableId, run, step, json, { apart: true })
      try {
        await this.#untilAnswered(run, MARK_PATIENCE_MS, mark)
      } catch (error) {
        if (json === null || isOutcomeRefused(error) || isTransient(error)) throw error
        this.#warn(run, step, error)
        json = null
        await this.#untilAnswered(run, MARK_PATIENCE_MS, mark)
      }
      return decodeStepValue(json)
    })
  }

  /** The mark becomes part of the caller's transaction. */
  within(run: SteppingRun, connection: Connection, step: string, work: Work<unknown>): Promise<unknown> {
    return this.#alone(run, step, work, async () => {
      const queryable = toQueryable(connection)
      const { tableId } = this.#type()
      const { marked, value, idempotencyKey } = await beginStep(queryable, tableId, run, step, { apart: false })
      if (marked) return decodeStepValue(value)
      const json = this.#encode(run, step, await work(Object.freeze({ idempotencyKey })))
      await markStep(queryable, tableId, run, step, json, { apart: false })
      return decodeStepValue(json)
    })
  }

  /** Twice at the same time, a step would be done twice. */
  async #alone(run: SteppingRun, step: string, work: unknown, once: () => Promise<unknown>): Promise<unknown> {
    checkStep(step, work)
    const steps = this.#stepsOf(run)
    if (steps.has(step))
      throw new InvalidArgumentError('step', `names ${step}, which this run is doing at this moment.`)
    steps.add(step)
    try {
      return await once()
    } catch (error) {
      throw fromDatabaseError(error)
    } finally {
      steps.delete(step)
    }
  }

  /** Repeats a statement through outages, and for a while through locks; both statements of a step may be repeated. */
  async #untilAnswered<Value>(run: SteppingRun, patienceMs: number, statement: () => Promise<Value>): Promise<Value> {
    const startedAt = performance.now()
    for (let failures = 1; ; failures += 1) {
      try {
        return await statement()
      } catch (raised) {
        const error = fromDatabaseError(raised)
        const limitMs = run.settled === undefined ? patienceMs : OWN_PATIENCE_MS
        const patient = !(error instanceof TaskInUseError) || performance.now() - startedAt < limitMs
        if (!isTransient(error) || !patient || run.abortReason !== undefined) throw error
        this.#context.failures.failed(
          `step ${this.#type().table}`,
          { ...typeReference(this.#type()), id: run.id, error: describeThrown(error) },
          'A step could not be begun or marked; trying again',
        )
        await sleep(backoffDelay(failures, RETRY_WAIT))
      }
    }
  }

  /** The step is done: a value that can't be stored must not make it be done again. */
  #encode(run: Run, step: string, value: unknown): string | null {
    try {
      return encodeStepValue(value)
    } catch (error) {
      this.#warn(run, step, error)
      return null
    }
  }

  #warn(run: Run, step: string, error: unknown): void {
    this.#context.logger.warn(
      { ...typeReference(this.#type()), id: run.id, step, error: describeThrown(error) },
      'The value of a step can not be stored; it is marked without one',
    )
  }

  #stepsOf(run: SteppingRun): Set<string> {
    let steps = this.#underWay.get(run)
    if (steps === undefined) {
      steps = new Set()
      this.#underWay.set(run, steps)
    }
    return steps
  }
}

function checkStep(step: unknown, work: unknown): void {
  if (typeof step !== 'string' || step === '' || step.includes('\u0000') || Buffer.byteLength(step) > LONGEST_NAME) {
    throw new InvalidArgumentError('step', `must be the name of the step: a text of 1 to ${LONGEST_NAME} bytes.`)
  }
  if (typeof work !== 'function') throw new InvalidArgumentError('work', 'must be a function.')
}
