import type { Queryable } from '@pg-tasks/sql'
import type { TaskLogger } from '../logger/logger.js'
import type { TaskContext } from '../task/task-context.js'
import type { MiddlewareContext } from './middleware.js'

/** The handler's own context with the name of its task type. */
export class RunContext implements MiddlewareContext {
  readonly schema: string
  readonly table: string
  readonly #context: TaskContext

  constructor(context: TaskContext, type: { readonly schema: string; readonly table: string }) {
    this.#context = context
    this.schema = type.schema
    this.table = type.table
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get attempt(): number {
    return this.#context.attempt
  }

  get logger(): TaskLogger {
    return this.#context.logger
  }

  get tx(): Queryable {
    return this.#context.tx
  }

  get once(): TaskContext['once'] {
    return this.#context.once
  }
}
