import type { Logger } from '../logger/logger.js'
import { noopLogger } from '../logger/noop-logger.js'
import type { Middleware } from '../middleware/middleware.js'
import { checkOptions } from '../options/check-options.js'
import { integer, loggerOption, oneOf } from '../options/checks.js'

/** How {@link drain} runs tasks. */
export interface DrainOptions {
  /**
   * What becomes of an error that a handler throws, once the task is retried or failed: `throw` it, or `collect` it in the result.
   * @defaultValue 'throw'
   */
  readonly errors?: 'throw' | 'collect'
  /**
   * Most runs; more are taken for tasks that enqueue each other for ever.
   * @defaultValue 1000
   */
  readonly maxRuns?: number
  /**
   * Most tasks of a `BatchTask` in one call.
   * @defaultValue 100
   */
  readonly batchSize?: number
  /**
   * Stands around every run, as `worker.use` has it.
   * @defaultValue none
   */
  readonly middleware?: readonly Middleware[]
  /**
   * `context.logger`.
   * @defaultValue none
   */
  readonly logger?: Logger
}

/** @throws InvalidOptionError that names the option */
export function resolveDrainOptions(options: DrainOptions): Readonly<Required<DrainOptions>> {
  return checkOptions<Required<DrainOptions>>('drain', options, {
    errors: oneOf(['throw', 'collect'], { default: 'throw' }),
    maxRuns: integer({ default: 1_000 }),
    batchSize: integer({ max: 10_000, default: 100 }),
    middleware: (given, refuse) => {
      if (given === undefined) return []
      return Array.isArray(given) ? (given as readonly Middleware[]) : refuse('must be an array of functions.')
    },
    logger: loggerOption({ default: noopLogger }),
  })
}
