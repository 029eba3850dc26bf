import { type Histogram, ROOT_CONTEXT, SpanKind, type Tracer } from '@opentelemetry/api'
import { type AcquireMessage, acquireChannel } from '../../events/channels.js'
import { attributesOf, destinationOf } from './attributes.js'
import type { WorkerInstruments } from './instruments.js'
import { linksTo, type TracedRow } from './trace-context.js'

/** Makes a span of every acquire of a worker that got tasks; the others would tell nothing. Returns the way to stop. */
export function traceAcquires(
  tracer: Tracer,
  workerId: string,
  { duration, consumed }: { readonly duration: Histogram; readonly consumed: WorkerInstruments['consumed'] },
): () => void {
  const since = new WeakMap<AcquireMessage, { readonly time: number; readonly at: number }>()
  const start = (given: unknown): void => {
    const message = given as AcquireMessage
    if (message.workerId === workerId) since.set(message, { time: Date.now(), at: performance.now() })
  }
  const end = (given: unknown): void => {
    const message = given as AcquireMessage
    const begun = since.get(message)
    if (begun === undefined || !Array.isArray(message.result) || message.result.length === 0) return
    const rows = message.result as TracedRow[]
    const attributes = attributesOf('acquire', message)
    tracer
      .startSpan(
        `acquire ${destinationOf(message)}`,
        {
          kind: SpanKind.CONSUMER,
          startTime: begun.time,
          links: linksTo(rows),
          attributes: { ...attributes, 'messaging.batch.message_count': rows.length, 'messaging.client.id': workerId },
        },
        ROOT_CONTEXT,
      )
      .end()
    duration.record((performance.now() - begun.at) / 1_000, attributes)
    consumed.add(rows.length, attributes)
  }
  acquireChannel.start.subscribe(start)
  acquireChannel.asyncEnd.subscribe(end)
  return () => {
    acquireChannel.start.unsubscribe(start)
    acquireChannel.asyncEnd.unsubscribe(end)
  }
}
