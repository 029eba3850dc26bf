import type { BatchObservableResult, Meter } from '@opentelemetry/api'
import type { Worker } from '../../worker/worker.js'
import { labelsOf } from './measure-worker.js'

/** Gauges that are read when metrics are collected. Returns the way to stop. */
export function gaugeWorker(meter: Meter, worker: Worker, counts: boolean): () => void {
  const tasks = meter.createObservableGauge('pg_tasks.tasks', {
    description: 'Tasks in the database by state; exact up to 10000',
    unit: '{task}',
  })
  const oldest = meter.createObservableGauge('pg_tasks.oldest_due', {
    description: 'How long the oldest waiting task has been due; 0: none is',
    unit: 's',
  })
  const handlers = meter.createObservableGauge('pg_tasks.worker.handlers', {
    description: 'Handlers that run in this worker',
    unit: '{run}',
  })
  const observe = async (result: BatchObservableResult): Promise<void> => {
    const { state, types } = worker.health()
    for (const type of types) result.observe(handlers, type.running, labelsOf(type))
    if (!counts || state !== 'running') return
    // A database that is away makes a gap, which is the truth.
    for (const type of await worker.counts().catch(() => [])) {
      for (const [name, count] of Object.entries(type.states)) {
        result.observe(tasks, count, { ...labelsOf(type), 'pg_tasks.state': name })
      }
      result.observe(oldest, (type.oldestDueMs ?? 0) / 1_000, labelsOf(type))
    }
  }
  const observables = [tasks, oldest, handlers]
  meter.addBatchObservableCallback(observe, observables)
  return () => meter.removeBatchObservableCallback(observe, observables)
}
