import type { Queryable, TemplateRow } from '@pg-tasks/sql'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import type { Logger } from '../logger/logger.js'
import { noopLogger } from '../logger/noop-logger.js'
import { safeLogger } from '../logger/safe-logger.js'
import { checkOptions } from '../options/check-options.js'
import { anything, integer, loggerOption } from '../options/checks.js'
import { optionsOf } from '../task/check-task.js'
import type { Claimed, Columns, NewTask } from '../task/claimed.js'
import type { Task } from '../task/task.js'
import type { TaskContext } from '../task/task-context.js'
import { decodeStepValue, encodeStepValue } from '../worker/run/step-value.js'

/** What the handler is given besides the row. */
export interface PerformOptions {
  /**
   * `context.attempt`, and `execution_count` of the row.
   * @defaultValue 1
   */
  readonly attempt?: number
  /**
   * `context.signal`.
   * @defaultValue one that is never aborted
   */
  readonly signal?: AbortSignal
  /**
   * `context.logger`.
   * @defaultValue none
   */
  readonly logger?: Logger
  /**
   * `context.tx`.
   * @defaultValue none: using it throws
   */
  readonly tx?: Queryable
  /**
   * Steps that earlier attempts have done, with what they returned; those of this call are added.
   * @defaultValue none
   */
  readonly steps?: Map<string, unknown>
}

/** Columns that a test may set besides those of an enqueue. */
type GivenRow<Own extends Columns> = NewTask<Own> & Partial<Omit<TemplateRow, keyof NewTask>>

/**
 * Calls a handler with a row that is in no table: what it does with its input can be tested without a database. Returns and
 * throws what it returns and throws. Handlers that settle their task themselves need `drain`.
 *
 * @throws InvalidOptionError that names the option
 *
 * @example
 * expect(await perform(sendInvoice, { order_id: '42', email: 'ada@example.com' })).toBe('sent')
 */
export async function perform<Own extends Columns>(
  task: Task<Own>,
  row: GivenRow<Own>,
  options: PerformOptions = {},
): Promise<unknown> {
  const resolved = resolvePerformOptions(options)
  optionsOf(task)
  const claimed = { ...templateRow(resolved.attempt), ...row } as unknown as Claimed<Own>
  return task.run(claimed, contextOf(claimed, resolved))
}

function templateRow(attempt: number): TemplateRow {
  const now = new Date()
  return {
    id: '1',
    created_at: now,
    planned_to: now,
    started_at: now,
    finished_at: null,
    execution_count: attempt,
    canceled: false,
    trace_id: null,
    comment: null,
    priority: 1,
    run_token: '00000000-0000-4000-8000-000000000001',
    run_worker: null,
    run_until: null,
    lost_count: 0,
    held: false,
    failed_at: null,
    canceled_at: null,
    failure_reason: null,
    last_error: null,
    schedule_key: null,
    occurrence_at: null,
    schedule_trigger: null,
    group_key: null,
    traceparent: null,
  }
}

interface ResolvedPerformOptions extends Required<Omit<PerformOptions, 'tx'>> {
  readonly tx: Queryable | undefined
}

/** @throws InvalidOptionError that names the option */
function resolvePerformOptions(options: PerformOptions): Readonly<ResolvedPerformOptions> {
  return checkOptions<ResolvedPerformOptions>('perform', options, {
    attempt: integer({ default: 1 }),
    signal: (given) => (given as AbortSignal | undefined) ?? new AbortController().signal,
    logger: loggerOption({ default: noopLogger }),
    tx: anything(),
    steps: (given, refuse) => {
      if (given === undefined) return new Map<string, unknown>()
      return given instanceof Map ? (given as Map<string, unknown>) : refuse('must be a Map.')
    },
  })
}

type Work = (context: { readonly idempotencyKey: string }) => Promise<unknown>

function contextOf({ id }: { readonly id: string }, options: ResolvedPerformOptions): TaskContext {
  const { attempt, signal, logger, tx, steps } = options
  const once = async (...args: [step: string, work: Work] | [connection: unknown, step: string, work: Work]) => {
    const [step, work] = (args.length === 3 ? args.slice(1) : args) as [string, Work]
    // As a mark would keep it.
    if (!steps.has(step))
      steps.set(step, decodeStepValue(encodeStepValue(await work({ idempotencyKey: `${id}-${step}` }))))
    return steps.get(step)
  }
  return {
    signal,
    attempt,
    logger: safeLogger(logger),
    once: once as TaskContext['once'],
    get tx(): Queryable {
      if (tx !== undefined) return tx
      throw new InvalidArgumentError('tx', 'was not given to perform.')
    },
  }
}
