import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import type { Claimed } from '../task/claimed.js'
import type { TaskContext } from '../task/task-context.js'
import type { Middleware, MiddlewareContext } from './middleware.js'
import { RunContext } from './run-context.js'

/** A worker's middleware, in the order in which it was added. */
export class MiddlewareChain {
  #all: readonly Middleware[] = []

  /** @throws InvalidArgumentError unless it is a function */
  add(middleware: Middleware): void {
    if (typeof middleware !== 'function') {
      throw new InvalidArgumentError('middleware', 'must be a function: async (task, context, next) => { … }.')
    }
    this.#all = [...this.#all, middleware]
  }

  /** Calls the handler, with the middleware around it. Without any, it is as if the handler were called itself. */
  around(
    type: { readonly schema: string; readonly table: string },
    task: Claimed,
    context: TaskContext,
    handler: () => unknown,
  ): unknown {
    if (this.#all.length === 0) return handler()
    return call(this.#all, 0, task as Claimed<Record<string, unknown>>, new RunContext(context, type), handler)
  }
}

async function call(
  all: readonly Middleware[],
  index: number,
  task: Claimed<Record<string, unknown>>,
  context: MiddlewareContext,
  handler: () => unknown,
): Promise<unknown> {
  const middleware = all[index]
  if (middleware === undefined) return handler()
  let inner: Promise<unknown> | undefined
  let ended = false
  const end = (): void => {
    ended = true
  }
  const next = (): Promise<unknown> => {
    // A second run beside the first would be fenced with the same token.
    if (inner !== undefined)
      return Promise.reject(new InvalidArgumentError('next', 'was called twice; a middleware calls it once.'))
    inner = call(all, index + 1, task, context, handler)
    inner.then(end, end)
    return inner
  }
  const value = await middleware(task, context, next)
  // An await is missing: the task must not be finished while its handler runs, nor if that throws.
  if (inner !== undefined && !ended) await inner
  return value
}
