import type { Attributes } from '@opentelemetry/api'
import { isInstance } from '../../errors/is-instance.js'
import { RetryTask } from '../../task/retry-task.js'
import type { TypeReference } from '../../worker/worker-events.js'
import type { WorkerObserver } from '../observe-worker.js'
import { attributesOf, destinationOf, errorType } from './attributes.js'
import type { WorkerInstruments } from './instruments.js'

/** Writes what a worker does to instruments. */
export function measureWorker(instruments: WorkerInstruments): WorkerObserver {
  return {
    waited: (type, waitMs) => instruments.wait.record(waitMs / 1_000, labelsOf(type)),
    woken: (type, latencyMs) => instruments.wakeLatency.record(latencyMs / 1_000, labelsOf(type)),
    started: (type) => instruments.attempts.add(1, labelsOf(type)),
    ended(type, outcome, durationMs, error) {
      const failed = error === undefined || isInstance(error, RetryTask) ? {} : { 'error.type': errorType(error) }
      instruments.processDuration.record(durationMs / 1_000, {
        ...attributesOf('run', type),
        'pg_tasks.outcome': outcome,
        ...failed,
      })
    },
    threw: (type) => instruments.failures.add(1, labelsOf(type)),
    lost: (type, reason) => instruments.lost.add(1, { ...labelsOf(type), 'pg_tasks.reason': reason }),
    rescued: (type, count) => instruments.rescued.add(count, labelsOf(type)),
    erred: (type) => instruments.errors.add(1, type === undefined ? {} : labelsOf(type)),
  }
}

/** How our own metrics name the task type. */
export function labelsOf(type: TypeReference): Attributes {
  return { 'messaging.destination.name': destinationOf(type) }
}
