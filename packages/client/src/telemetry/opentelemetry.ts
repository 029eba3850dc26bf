export { instrumentEnqueue } from './opentelemetry/instrument-enqueue.js'
export { instrumentWorker } from './opentelemetry/instrument-worker.js'
export type { EnqueueTelemetryOptions, WorkerTelemetryOptions } from './opentelemetry/telemetry-options.js'
