import { redact } from '../errors/redact.js'
import { noopLogger } from '../logger/noop-logger.js'
import type { TypeContext } from './type/type-context.js'

/** A worker that has nobody to tell of its troubles lets Node tell them, on standard error. */
export function warnUnheard({ options, events }: Pick<TypeContext, 'options' | 'events'>, message: string): void {
  if (options.logger !== noopLogger || events.listenerCount('error') > 0) return
  process.emitWarning(`${message} Give it a logger to hear what it does.`, { type: 'PgTasksWarning' })
}

/** Without that, one that waits for its database looks as if it hung. */
export function warnUnreachable(context: Pick<TypeContext, 'options' | 'events'>, error: unknown): void {
  warnUnheard(context, `The worker goes on trying to reach its database: ${reasonOf(error)}.`)
}

/** The innermost cause: the outer ones only say that there is no connection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return redact(String(error))
  if (error.cause instanceof Error) return reasonOf(error.cause)
  // Of a host with several addresses, Node says what each answered, and nothing itself.
  return redact(error instanceof AggregateError ? error.errors.map(reasonOf).join('; ') : error.message)
}
