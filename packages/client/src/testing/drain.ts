import { type Connection, describeType, type Queryable, type TaskState, toQueryable } from '@pg-tasks/sql'
import { TypeNotRegisteredError } from '../errors/database-errors.js'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { FailureLog } from '../logger/failure-log.js'
import { safeLogger } from '../logger/safe-logger.js'
import { MiddlewareChain } from '../middleware/middleware-chain.js'
import { BatchTask } from '../task/batch-task.js'
import { CancelTask } from '../task/cancel-task.js'
import { optionsOf } from '../task/check-task.js'
import { RetryTask } from '../task/retry-task.js'
import type { Task } from '../task/task.js'
import { ActiveRun } from '../worker/run/active-run.js'
import { Steps } from '../worker/run/steps.js'
import { type DrainOptions, resolveDrainOptions } from './drain-options.js'
import { type RunParts, runInline } from './run-inline.js'

/** One run of {@link drain}. */
export interface DrainedRun {
  readonly schema: string
  readonly table: string
  readonly id: string
  /** Which execution it was, from 1. */
  readonly attempt: number
  /** The task's state after it; undefined: it was deleted. */
  readonly state: TaskState | undefined
  /** What the handler threw. */
  readonly error: unknown
}

/**
 * Runs the due tasks of these types here and now, one after the other, until none is due: also those that they enqueue. Each is
 * acquired, run and settled on this connection, as a worker would; so it works inside a transaction that is rolled back in the
 * end. Tasks that are retried later stay: move the clock, and drain again.
 *
 * `context.tx` is the connection itself: what a handler has written before it throws is not taken back.
 *
 * @returns the runs, in their order
 * @throws what the first handler throws, unless errors are collected; RetryTask and CancelTask are no errors
 * @throws InvalidArgumentError if there are more runs than `maxRuns`
 * @throws TypeNotRegisteredError if a type isn't registered
 *
 * @example
 * await signUp(tx, 'ada@example.com')
 * await drain(tx, [sendWelcome])
 */
export async function drain(
  connection: Connection,
  tasks: Task<never> | Task<object> | ReadonlyArray<Task<never> | Task<object>>,
  options: DrainOptions = {},
): Promise<DrainedRun[]> {
  const resolved = resolveDrainOptions(options)
  const queryable = toQueryable(connection)
  const types = await Promise.all(
    [tasks].flat().map((task) => partsOf(queryable, connection, task as Task<object>, resolved)),
  )
  const runs: DrainedRun[] = []
  for (let found = true; found; ) {
    found = false
    for (const parts of types) {
      const ended = await round(parts, resolved)
      found ||= ended.length > 0
      runs.push(...ended)
      if (runs.length > resolved.maxRuns) {
        throw new InvalidArgumentError(
          'tasks',
          `made more than ${resolved.maxRuns} runs; raise maxRuns if that is right.`,
        )
      }
    }
  }
  return runs
}

async function partsOf(
  queryable: Queryable,
  connection: Connection,
  task: Task<object>,
  { middleware, logger: given }: Readonly<Required<DrainOptions>>,
): Promise<RunParts> {
  const { schema, table } = optionsOf(task)
  const type = await describeType(queryable, schema, table)
  if (type === undefined) {
    throw new TypeNotRegisteredError(`The table ${schema}.${table} is not a registered task type; register it first.`)
  }
  const logger = safeLogger(given)
  const chain = new MiddlewareChain()
  for (const one of middleware) chain.add(one)
  const steps = new Steps({ settling: queryable, logger, failures: new FailureLog(logger) }, () => type)
  return { queryable, connection, task, type, chain, steps, logger }
}

async function round(parts: RunParts, options: Readonly<Required<DrainOptions>>): Promise<DrainedRun[]> {
  const { task, type, steps, logger, connection } = parts
  const rows = await task.acquire(connection, task instanceof BatchTask ? options.batchSize : 1)
  const ended = await Promise.all(
    rows.map(async (row) => {
      const run = new ActiveRun(row, logger, steps)
      const { state, error } = await runInline(parts, run)
      return { schema: type.schema, table: type.table, id: run.id, attempt: run.attempt, state, error }
    }),
  )
  const failed = ended.find(({ error }) => error !== undefined && !isDecision(error))
  if (failed !== undefined && options.errors === 'throw') throw failed.error
  return ended
}

function isDecision(error: unknown): boolean {
  return error instanceof RetryTask || error instanceof CancelTask
}
