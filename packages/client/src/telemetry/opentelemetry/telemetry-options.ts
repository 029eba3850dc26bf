import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api'
import { checkOptions, type OptionCheck } from '../../options/check-options.js'
import { flag, oneOf } from '../../options/checks.js'

/** Where telemetry of enqueues goes. */
export interface EnqueueTelemetryOptions {
  /**
   * Makes the tracer.
   * @defaultValue the global one
   */
  readonly tracerProvider?: TracerProvider
  /**
   * Makes the meter.
   * @defaultValue the global one
   */
  readonly meterProvider?: MeterProvider
}

/** Where telemetry of a worker goes, and how its spans hang together. */
export interface WorkerTelemetryOptions extends EnqueueTelemetryOptions {
  /**
   * What the span of a run belongs to. `task`: to the trace of the code that enqueued the task, below its span. `none`: each run
   * begins a trace. Both link to the enqueuing span.
   * @defaultValue 'task'
   */
  readonly parent?: 'task' | 'none'
  /**
   * Whether the tasks in the database are counted whenever metrics are collected; every worker of a database tells the same.
   * @defaultValue true
   */
  readonly counts?: boolean
}

const provider =
  <Provider extends object>(method: string, standard: () => Provider): OptionCheck<Provider> =>
  (given, refuse) => {
    if (given === undefined) return standard()
    if (typeof given === 'object' && given !== null && typeof Reflect.get(given, method) === 'function') {
      return given as Provider
    }
    return refuse(`must have the method ${method}, as OpenTelemetry's has.`)
  }

const PROVIDERS = {
  tracerProvider: provider<TracerProvider>('getTracer', () => trace.getTracerProvider()),
  meterProvider: provider<MeterProvider>('getMeter', () => metrics.getMeterProvider()),
}

/** @throws InvalidOptionError that names the option */
export function resolveEnqueueTelemetry(options: EnqueueTelemetryOptions): Readonly<Required<EnqueueTelemetryOptions>> {
  return checkOptions<Required<EnqueueTelemetryOptions>>('instrumentEnqueue', options, PROVIDERS)
}

/** @throws InvalidOptionError that names the option */
export function resolveWorkerTelemetry(options: WorkerTelemetryOptions): Readonly<Required<WorkerTelemetryOptions>> {
  return checkOptions<Required<WorkerTelemetryOptions>>('instrumentWorker', options, {
    ...PROVIDERS,
    parent: oneOf(['task', 'none'], { default: 'task' }),
    counts: flag({ default: true }),
  })
}
