import type { Counter, Histogram, Meter } from '@opentelemetry/api'
import { TASK_SECONDS, WAKE_SECONDS } from '../buckets.js'

/** Buckets that the conventions ask for. */
const OPERATION_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Metric `messaging.client.operation.duration`, of enqueues and acquires. */
export function operationDuration(meter: Meter): Histogram {
  return histogram(
    meter,
    'messaging.client.operation.duration',
    'How long enqueues and acquires took',
    OPERATION_SECONDS,
  )
}

/** Metric `messaging.client.sent.messages`. */
export function sentMessages(meter: Meter): Counter {
  return counter(meter, 'messaging.client.sent.messages', 'Tasks that were enqueued', '{message}')
}

/** The instruments of a worker that are written to as things happen. */
export interface WorkerInstruments {
  readonly consumed: Counter
  readonly processDuration: Histogram
  readonly wait: Histogram
  readonly wakeLatency: Histogram
  readonly attempts: Counter
  readonly failures: Counter
  readonly lost: Counter
  readonly rescued: Counter
  readonly errors: Counter
}

export function workerInstruments(meter: Meter): WorkerInstruments {
  return {
    consumed: counter(meter, 'messaging.client.consumed.messages', 'Tasks that were acquired', '{message}'),
    processDuration: histogram(meter, 'messaging.process.duration', 'How long handlers took', TASK_SECONDS),
    wait: histogram(meter, 'pg_tasks.task.wait', 'From the time a task was due until it was acquired', TASK_SECONDS),
    wakeLatency: histogram(
      meter,
      'pg_tasks.worker.wake_latency',
      'How late a worker that had slept got the latest of the tasks for which it woke',
      WAKE_SECONDS,
    ),
    attempts: counter(meter, 'pg_tasks.run.attempts', 'Executions that were begun', '{run}'),
    failures: counter(meter, 'pg_tasks.run.failures', 'Executions that threw or passed their limit', '{run}'),
    lost: counter(meter, 'pg_tasks.run.lost', 'Runs that lost their task, by reason', '{run}'),
    rescued: counter(meter, 'pg_tasks.task.rescued', 'Tasks with an ended lease that were brought back', '{task}'),
    errors: counter(meter, 'pg_tasks.worker.errors', 'Errors that the worker coped with', '{error}'),
  }
}

function counter(meter: Meter, name: string, description: string, unit: string): Counter {
  return meter.createCounter(name, { description, unit })
}

function histogram(meter: Meter, name: string, description: string, bounds: readonly number[]): Histogram {
  return meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: [...bounds] } })
}
