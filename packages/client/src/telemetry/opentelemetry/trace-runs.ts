import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { describeThrown } from '../../errors/describe-thrown.js'
import { isInstance } from '../../errors/is-instance.js'
import type { Middleware } from '../../middleware/middleware.js'
import { CancelTask } from '../../task/cancel-task.js'
import { RetryTask } from '../../task/retry-task.js'
import { attributesOf, destinationOf, errorType } from './attributes.js'
import { linksTo, spanContextOf } from './trace-context.js'

/** The middleware that makes a span of every run; what the handler does belongs to it. */
export function traceRuns(
  tracer: Tracer,
  { workerId, parent }: { readonly workerId: string; readonly parent: 'task' | 'none' },
): Middleware {
  return (task, { schema, table, attempt }, next) => {
    const enqueued = parent === 'task' ? spanContextOf(task) : undefined
    const around = enqueued === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, enqueued)
    const span = tracer.startSpan(
      `run ${destinationOf({ schema, table })}`,
      {
        kind: SpanKind.CONSUMER,
        links: linksTo([task]),
        attributes: {
          ...attributesOf('run', { schema, table }),
          'messaging.message.id': String(task.id),
          'messaging.client.id': workerId,
          'pg_tasks.attempt': attempt,
          // Tasks of other programs may have the convention's column alone.
          ...(typeof task.trace_id === 'string' ? { 'pg_tasks.trace_id': task.trace_id } : {}),
        },
      },
      around,
    )
    return context.with(trace.setSpan(around, span), async () => {
      try {
        return await next()
      } catch (error) {
        span.setAttribute('error.type', errorType(error))
        // Where the handler itself decides so, nothing has failed.
        if (!(isInstance(error, RetryTask) || isInstance(error, CancelTask))) {
          const exception = isInstance(error, Error) ? error : describeThrown(error)
          span.recordException(exception)
          span.setStatus({
            code: SpanStatusCode.ERROR,
            message: typeof exception === 'string' ? exception : exception.message,
          })
        }
        throw error
      } finally {
        span.end()
      }
    })
  }
}
