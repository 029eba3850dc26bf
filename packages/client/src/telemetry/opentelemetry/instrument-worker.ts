import type { Worker } from '../../worker/worker.js'
import { observeWorker } from '../observe-worker.js'
import { SCOPE } from './attributes.js'
import { gaugeWorker } from './gauge-worker.js'
import { operationDuration, workerInstruments } from './instruments.js'
import { measureWorker } from './measure-worker.js'
import { resolveWorkerTelemetry, type WorkerTelemetryOptions } from './telemetry-options.js'
import { traceAcquires } from './trace-acquires.js'
import { traceRuns } from './trace-runs.js'

/**
 * Makes spans of a worker's acquires and runs, and metrics of what it does. Call it before other middleware is added, so that
 * what that does belongs to the span of the run. Returns the way to stop.
 *
 * @throws InvalidOptionError that names the option
 *
 * @example
 * instrumentWorker(worker)
 * await worker.run()
 */
export function instrumentWorker(worker: Worker, options: WorkerTelemetryOptions = {}): () => void {
  const { tracerProvider, meterProvider, parent, counts } = resolveWorkerTelemetry(options)
  const tracer = tracerProvider.getTracer(SCOPE)
  const meter = meterProvider.getMeter(SCOPE)
  const instruments = workerInstruments(meter)
  const tracing = traceRuns(tracer, { workerId: worker.id, parent })
  let stopped = false
  worker.use((task, context, next) => (stopped ? next() : tracing(task, context, next)))
  const stops = [
    traceAcquires(tracer, worker.id, { duration: operationDuration(meter), consumed: instruments.consumed }),
    observeWorker(worker, measureWorker(instruments)),
    gaugeWorker(meter, worker, counts),
  ]
  return () => {
    stopped = true
    for (const stop of stops) stop()
  }
}
