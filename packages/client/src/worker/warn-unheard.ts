import { redact } from '../errors/redact.js'
import { noopLogger } from '../logger/noop-logger.js'
import type { TypeContext } from './type-context.js'

/** A worker that waits for its database and has nobody to tell looks as if it hung: Node tells it then, on standard error. */
export function warnUnheard({ options, events }: Pick<TypeContext, 'options' | 'events'>, error: unknown): void {
  if (options.logger !== noopLogger || events.listenerCount('error') > 0) return
  process.emitWarning(
    `The worker goes on trying to reach its database: ${reasonOf(error)}. Give it a logger to hear what it does.`,
    { type: 'PgTasksWarning' },
  )
}

/** The innermost cause: the outer ones only say that there is no connection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return redact(String(error))
  if (error.cause instanceof Error) return reasonOf(error.cause)
  // Of a host with several addresses, Node says what each answered, and nothing itself.
  return redact(error instanceof AggregateError ? error.errors.map(reasonOf).join('; ') : error.message)
}
