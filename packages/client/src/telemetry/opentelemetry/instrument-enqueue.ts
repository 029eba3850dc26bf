import { type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { type EnqueueMessage, enqueueChannel } from '../../events/channels.js'
import { attributesOf, destinationOf, errorType, SCOPE } from './attributes.js'
import { operationDuration, sentMessages } from './instruments.js'
import { type EnqueueTelemetryOptions, resolveEnqueueTelemetry } from './telemetry-options.js'
import { columnsOf } from './trace-context.js'

interface Enqueuing {
  readonly span: Span
  readonly since: number
}

/**
 * From now on every enqueue of this process is a span, whose context goes with the tasks: in `traceparent` and, for the
 * convention, in `trace_id`, unless the caller gave them. Returns the way to stop.
 *
 * @throws InvalidOptionError that names the option
 *
 * @example
 * instrumentEnqueue()
 */
export function instrumentEnqueue(options: EnqueueTelemetryOptions = {}): () => void {
  const { tracerProvider, meterProvider } = resolveEnqueueTelemetry(options)
  const tracer = tracerProvider.getTracer(SCOPE)
  const meter = meterProvider.getMeter(SCOPE)
  const [duration, sent] = [operationDuration(meter), sentMessages(meter)]
  const open = new WeakMap<EnqueueMessage, Enqueuing>()

  const subscribers = {
    start(message: EnqueueMessage): void {
      const { tasks } = message
      if (tasks.length === 0) return
      const span = tracer.startSpan(`enqueue ${destinationOf(message)}`, {
        kind: SpanKind.PRODUCER,
        attributes: {
          ...attributesOf('enqueue', message),
          ...(tasks.length > 1 ? { 'messaging.batch.message_count': tasks.length } : {}),
        },
      })
      open.set(message, { span, since: performance.now() })
      const carried = columnsOf(span.spanContext())
      // Without an SDK a span has no identity to carry.
      if (!/^0+$/.test(span.spanContext().traceId)) {
        message.tasks = tasks.map((task) => (task.traceparent === undefined ? withContext(task, carried) : task))
      }
    },
    asyncEnd(message: EnqueueMessage): void {
      const enqueuing = open.get(message)
      if (enqueuing === undefined) return
      const { span, since } = enqueuing
      const failed = message.error === undefined ? {} : { 'error.type': errorType(message.error) }
      const id = onlyId(message.result)
      if (id !== undefined) span.setAttribute('messaging.message.id', id)
      span.setAttributes(failed)
      if (message.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: String(message.error) })
      span.end()
      const attributes = { ...attributesOf('enqueue', message), ...failed }
      duration.record((performance.now() - since) / 1_000, attributes)
      sent.add(message.tasks.length, attributes)
    },
    end: (): void => {},
    asyncStart: (): void => {},
    error: (): void => {},
  }
  enqueueChannel.subscribe(subscribers)
  return () => {
    enqueueChannel.unsubscribe(subscribers)
  }
}

function withContext(
  task: EnqueueMessage['tasks'][number],
  carried: ReturnType<typeof columnsOf>,
): EnqueueMessage['tasks'][number] {
  // Old traces may have been told apart by the convention's column alone.
  return task.trace_id === undefined ? { ...task, ...carried } : { ...task, traceparent: carried.traceparent }
}

/** Ids, or outcomes with an id. */
function onlyId(result: unknown): string | undefined {
  if (!Array.isArray(result) || result.length !== 1) return undefined
  const [one] = result as [unknown]
  const id = typeof one === 'object' && one !== null ? Reflect.get(one, 'id') : one
  return typeof id === 'string' ? id : undefined
}
