import type { Claimed, Columns } from '../task/claimed.js'
import type { TaskContext } from '../task/task-context.js'

/** What a middleware is given besides the task: the handler's context, and which task type it is. */
export interface MiddlewareContext extends TaskContext {
  readonly schema: string
  readonly table: string
}

/**
 * A function around every run of a worker. It calls `next` once, which runs the middleware after it and at last the handler, and
 * is given what the handler returns or throws.
 *
 * One that returns before `next` has settled is waited for until it has, and what that rejects with counts.
 *
 * What it throws counts as thrown by the handler: the task is retried, or as `RetryTask` and `CancelTask` say. One that returns
 * without having called `next` finishes the task without running it.
 *
 * @example
 * worker.use(async (task, context, next) => {
 *   await tenants.run(task.tenant_id, next)
 * })
 */
export type Middleware<Own extends Columns = Record<string, unknown>> = (
  task: Claimed<Own>,
  context: MiddlewareContext,
  next: () => Promise<unknown>,
) => unknown
