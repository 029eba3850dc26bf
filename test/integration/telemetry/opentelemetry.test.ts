import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { CancelTask } from '@pg-tasks/client'
import { instrumentEnqueue, instrumentWorker } from '@pg-tasks/client/opentelemetry'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, insertTasks, readTask } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { newWorker, startWorker, taskOf, workersAsleep } from '../worker/start-worker.js'

const spans = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 })
const meterProvider = new MeterProvider({ readers: [reader] })
const providers = { tracerProvider, meterProvider }
const contexts = new AsyncLocalStorageContextManager()
const stops: Array<() => void> = []
let database: TestDatabase

beforeAll(async () => {
  context.setGlobalContextManager(contexts.enable())
  database = await createDatabase()
})

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  spans.reset()
})

afterAll(async () => {
  await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()])
  contexts.disable()
})

function spansOf(name: string) {
  return spans.getFinishedSpans().filter((span) => span.name === name)
}

/** The value of each series of a metric whose attributes are these, among others. */
async function series(metric: string, attributes: Record<string, unknown>): Promise<unknown[]> {
  measured.reset()
  await reader.forceFlush()
  return measured
    .getMetrics()
    .flatMap((resource) => resource.scopeMetrics.flatMap((scope) => scope.metrics))
    .filter((one) => one.descriptor.name === metric)
    .flatMap((one) => one.dataPoints as ReadonlyArray<{ attributes: Record<string, unknown>; value: unknown }>)
    .filter((point) => Object.entries(attributes).every(([key, value]) => point.attributes[key] === value))
    .map((point) => point.value)
}

describe('spans', () => {
  it('lead from the enqueuing code through the task to the run and what it does', async () => {
    await createTaskType(database.pool, 'traced', { columns: 'note text' })
    stops.push(instrumentEnqueue(providers))
    const tracer = tracerProvider.getTracer('test')
    const task = taskOf('traced', async () => {
      tracer.startSpan('inside').end()
    })
    const request = tracer.startSpan('request')
    const id = await context.with(trace.setSpan(context.active(), request), () =>
      task.enqueue(database.pool, { note: 'x' }),
    )
    request.end()
    const row = await readTask(database.pool, 'traced', id)
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    stops.push(instrumentWorker(recorded.worker, providers))
    recorded.running = recorded.worker.run()
    await recorded.seen('finished')
    await recorded.worker.stop()

    const [enqueue] = spansOf('enqueue tasks.traced')
    const [acquire] = spansOf('acquire tasks.traced')
    const [run] = spansOf('run tasks.traced')
    const [inside] = spansOf('inside')
    const { traceId, spanId } = request.spanContext()
    expect(enqueue).toMatchObject({ kind: SpanKind.PRODUCER, parentSpanContext: { spanId } })
    expect(enqueue?.attributes).toEqual({
      'messaging.system': 'pg_tasks',
      'messaging.operation.name': 'enqueue',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'tasks.traced',
      'messaging.message.id': id,
    })
    const enqueueContext = enqueue?.spanContext()
    expect(row.traceparent).toBe(`00-${traceId}-${enqueueContext?.spanId}-01`)
    expect(row.trace_id.replaceAll('-', '')).toBe(traceId)
    expect(acquire).toMatchObject({ kind: SpanKind.CONSUMER, parentSpanContext: undefined })
    expect(acquire?.links.map((link) => link.context.spanId)).toEqual([enqueueContext?.spanId])
    expect(acquire?.attributes).toMatchObject({
      'messaging.operation.type': 'receive',
      'messaging.batch.message_count': 1,
    })
    expect(run).toMatchObject({ kind: SpanKind.CONSUMER, parentSpanContext: { spanId: enqueueContext?.spanId } })
    expect(run?.spanContext().traceId).toBe(traceId)
    expect(run?.attributes).toMatchObject({
      'messaging.operation.name': 'run',
      'messaging.operation.type': 'process',
      'messaging.message.id': id,
      'messaging.client.id': recorded.worker.id,
      'pg_tasks.attempt': 1,
    })
    expect(inside?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId)
  })

  it('begin a trace with each run where that is asked for, and still link', async () => {
    await createTaskType(database.pool, 'apart')
    stops.push(instrumentEnqueue(providers))
    const task = taskOf('apart')
    await task.enqueueMany(database.pool, [{}, {}])
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    stops.push(instrumentWorker(recorded.worker, { ...providers, parent: 'none' }))
    recorded.running = recorded.worker.run()
    await recorded.seen('finished', { count: 2 })
    await recorded.worker.stop()
    const [enqueue] = spansOf('enqueue tasks.apart')
    expect(enqueue?.attributes['messaging.batch.message_count']).toBe(2)
    const runs = spansOf('run tasks.apart')
    expect(new Set([enqueue, ...runs].map((span) => span?.spanContext().traceId)).size).toBe(3)
    for (const run of runs) expect(run.links[0]?.context.spanId).toBe(enqueue?.spanContext().spanId)
  })

  it('leave a trace context alone that the caller gave, and make do with none or a wrong one', async () => {
    await createTaskType(database.pool, 'given')
    stops.push(instrumentEnqueue(providers))
    const task = taskOf('given')
    const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const [first = ''] = await task.enqueueMany(database.pool, [{ traceparent: given }])
    expect(await readTask(database.pool, 'given', first)).toMatchObject({ traceparent: given, trace_id: null })
    await database.pool.query("insert into tasks.given (traceparent) values (null), ('00-nonsense-01')")
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    stops.push(instrumentWorker(recorded.worker, providers))
    recorded.running = recorded.worker.run()
    await recorded.seen('finished', { count: 3 })
    await recorded.worker.stop()
    const parents = spansOf('run tasks.given').map((span) => span.parentSpanContext?.spanId)
    expect(parents).toEqual(['b7ad6b7169203331', undefined, undefined])
  })

  it('tell errors, but no task that cancels itself', async () => {
    await createTaskType(database.pool, 'erring', { maxRetries: 0 })
    class Refused extends Error {}
    const task = taskOf('erring', async ({ id }) => {
      throw id === '1' ? new Refused('no') : new CancelTask()
    })
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    stops.push(instrumentEnqueue(providers), instrumentWorker(recorded.worker, providers))
    recorded.running = recorded.worker.run()
    await insertTasks(database.pool, 'erring', 2)
    await Promise.all([recorded.seen('failed'), recorded.seen('canceled')])
    await recorded.worker.stop()
    const [failed, canceled] = spansOf('run tasks.erring')
    expect(failed?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no' })
    expect(failed?.attributes['error.type']).toBe('Refused')
    expect(failed?.events.map((event) => event.name)).toEqual(['exception'])
    expect(canceled?.status.code).toBe(SpanStatusCode.UNSET)
    await expect(task.enqueue(database.pool, { nonsense: 1 } as never)).rejects.toThrow()
    expect(spansOf('enqueue tasks.erring')[0]).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': expect.any(String) },
    })
  })

  it('leave what was thrown as it is, though it has no text', async () => {
    await createTaskType(database.pool, 'without_text', { maxRetries: 0 })
    const thrown = Object.create(null) as object
    const task = taskOf('without_text', () => Promise.reject(thrown))
    await task.enqueue(database.pool, {})
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    stops.push(instrumentWorker(recorded.worker, providers))
    recorded.running = recorded.worker.run()
    const [failed] = await recorded.seen('failed')
    expect(failed.error).toBe(thrown)
    await recorded.worker.stop()
    expect(spansOf('run tasks.without_text')[0]?.status).toMatchObject({ code: SpanStatusCode.ERROR })
  })

  it('end with the instrumentation', async () => {
    await createTaskType(database.pool, 'no_more')
    const task = taskOf('no_more')
    const recorded = newWorker({ connectionString: database.url }, [task, 1])
    const stop = [instrumentEnqueue(providers), instrumentWorker(recorded.worker, providers)]
    for (const one of stop) one()
    const id = await task.enqueue(database.pool, {})
    recorded.running = recorded.worker.run()
    await recorded.seen('finished')
    await recorded.worker.stop()
    expect(spans.getFinishedSpans()).toEqual([])
    expect((await readTask(database.pool, 'no_more', id)).traceparent).toBeNull()
  })
})

describe('metrics', () => {
  it('tell what is in the database and what the worker has done', async () => {
    await createTaskType(database.pool, 'metered', { maxRetries: 0 })
    const destination = { 'messaging.destination.name': 'tasks.metered' }
    const task = taskOf('metered', async ({ id }) => {
      if (id === '2') throw new TypeError('no')
    })
    const recorded = await startWorker({ connectionString: database.url }, [task, 1])
    stops.push(instrumentEnqueue(providers), instrumentWorker(recorded.worker, providers))
    await workersAsleep(database.pool, 'metered')
    await task.enqueueMany(database.pool, [{}, {}])
    await task.enqueue(database.pool, {}, { delayMs: 3_600_000 })
    await Promise.all([recorded.seen('finished'), recorded.seen('failed')])
    expect(await series('pg_tasks.tasks', { ...destination, 'pg_tasks.state': 'scheduled' })).toEqual([1])
    expect(await series('pg_tasks.tasks', { ...destination, 'pg_tasks.state': 'failed' })).toEqual([1])
    expect(await series('pg_tasks.oldest_due', destination)).toEqual([0])
    expect(await series('pg_tasks.worker.handlers', destination)).toEqual([0])
    expect(await series('pg_tasks.run.attempts', destination)).toEqual([2])
    expect(await series('pg_tasks.run.failures', destination)).toEqual([1])
    expect(await series('messaging.client.sent.messages', destination)).toEqual([3])
    expect(await series('messaging.client.consumed.messages', destination)).toEqual([2])
    expect(await series('pg_tasks.task.wait', destination)).toEqual([expect.objectContaining({ count: 2 })])
    expect(await series('pg_tasks.worker.wake_latency', destination)).toEqual([expect.objectContaining({ count: 1 })])
    expect(await series('messaging.process.duration', { ...destination, 'error.type': 'TypeError' })).toEqual([
      expect.objectContaining({ count: 1 }),
    ])
    expect(await series('messaging.process.duration', { ...destination, 'pg_tasks.outcome': 'finished' })).toEqual([
      expect.objectContaining({ count: 1 }),
    ])
    const enqueues = { ...destination, 'messaging.operation.name': 'enqueue' }
    expect(await series('messaging.client.operation.duration', enqueues)).toEqual([
      expect.objectContaining({ count: 2 }),
    ])
    await recorded.worker.stop()
  })
})

describe('the options', () => {
  it('are refused where they make no sense', () => {
    const { worker } = newWorker({ connectionString: database.url })
    expect(() => instrumentWorker(worker, { parent: 'link' as never })).toThrow(/parent/)
    expect(() => instrumentWorker(worker, { tracerProvider: {} as never })).toThrow(/getTracer/)
    expect(() => instrumentEnqueue({ tracer: 1 } as never)).toThrow(/unknown/)
  })
})
