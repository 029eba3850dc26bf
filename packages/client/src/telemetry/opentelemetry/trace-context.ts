import { isSpanContextValid, type Link, type SpanContext } from '@opentelemetry/api'

/** What a task's row tells of the trace that it was enqueued in. */
export interface TracedRow {
  readonly traceparent?: unknown
}

/** Version, trace, parent and flags; later versions may append more (https://www.w3.org/TR/trace-context/). */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/

/** The span in which a task was enqueued; undefined without one. */
export function spanContextOf({ traceparent }: TracedRow): SpanContext | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(context) ? context : undefined
}

/** Links to the spans in which tasks were enqueued, each once. */
export function linksTo(rows: readonly TracedRow[]): Link[] {
  const contexts = rows.map(spanContextOf).filter((context) => context !== undefined)
  return [...new Map(contexts.map((context) => [context.spanId, { context }])).values()].slice(0, MOST_LINKS)
}

/** What the SDK keeps of them, unless it is told otherwise. */
const MOST_LINKS = 128

/** The columns that carry a span to the task's runs: W3C's `traceparent`, and the convention's `trace_id`. */
export function columnsOf({ traceId, spanId, traceFlags }: SpanContext): {
  readonly traceparent: string
  readonly trace_id: string
} {
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    trace_id: traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  }
}
