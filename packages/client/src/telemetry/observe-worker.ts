import { isInstance } from '../errors/is-instance.js'
import { type AcquireMessage, acquireChannel } from '../events/channels.js'
import { RetryTask } from '../task/retry-task.js'
import type { Worker } from '../worker/worker.js'
import type { TypeReference } from '../worker/worker-events.js'

/** How an execution ended. */
export type RunOutcome = 'finished' | 'retried' | 'failed' | 'canceled'

/** What metrics are made of; durations in milliseconds. */
export interface WorkerObserver {
  /** A task was acquired, so long after it was due. */
  waited(type: TypeReference, waitMs: number): void
  /** A worker that had slept got tasks, the latest of them so long after it was due. */
  woken(type: TypeReference, latencyMs: number): void
  /** An execution begins. */
  started(type: TypeReference): void
  /** Its outcome is written. */
  ended(type: TypeReference, outcome: RunOutcome, durationMs: number, error?: unknown): void
  /** A handler threw, or its run limit passed. */
  threw(type: TypeReference): void
  /** A run lost its task: canceled, reset, deleted or taken over. */
  lost(type: TypeReference, reason: string): void
  /** Tasks whose lease had ended were brought back. */
  rescued(type: TypeReference, count: number): void
  /** The worker met an error that it copes with. */
  erred(type: TypeReference | undefined): void
}

/** Listens to a worker; returns the way to stop. */
export function observeWorker(worker: Worker, observer: WorkerObserver): () => void {
  const acquired = {
    asyncEnd: (message: AcquireMessage): void => {
      if (message.workerId === worker.id && Array.isArray(message.result))
        observeAcquire(message, message.result, observer)
    },
  }
  const started = (task: TypeReference): void => observer.started(task)
  const finished = (task: Ended): void => observer.ended(task, 'finished', task.durationMs)
  const canceled = (task: Ended): void => observer.ended(task, 'canceled', task.durationMs)
  const retried = (task: Ended & { readonly error: unknown }): void => {
    // A handler that asks for a retry has not failed.
    if (task.error !== undefined && !isInstance(task.error, RetryTask)) observer.threw(task)
    observer.ended(task, 'retried', task.durationMs, task.error)
  }
  const failed = (task: Ended & { readonly error: unknown }): void => {
    observer.threw(task)
    observer.ended(task, 'failed', task.durationMs, task.error)
  }
  const lost = (task: TypeReference & { readonly reason: string }): void => observer.lost(task, task.reason)
  const rescued = (type: TypeReference & { readonly count: number }): void => observer.rescued(type, type.count)
  const erred = (_error: unknown, type: TypeReference | undefined): void => observer.erred(type)
  acquireChannel.asyncEnd.subscribe(acquired.asyncEnd as (message: unknown) => void)
  worker
    .on('started', started)
    .on('finished', finished)
    .on('canceled', canceled)
    .on('retried', retried)
    .on('failed', failed)
    .on('lost', lost)
    .on('rescued', rescued)
    .on('error', erred)
  return () => {
    acquireChannel.asyncEnd.unsubscribe(acquired.asyncEnd as (message: unknown) => void)
    worker
      .off('started', started)
      .off('finished', finished)
      .off('canceled', canceled)
      .off('retried', retried)
      .off('failed', failed)
      .off('lost', lost)
      .off('rescued', rescued)
      .off('error', erred)
  }
}

interface Ended extends TypeReference {
  readonly durationMs: number
}

interface AcquiredRow {
  readonly planned_to: unknown
  readonly started_at: unknown
}

/** Both times are the database's. */
function observeAcquire(message: AcquireMessage, rows: readonly AcquiredRow[], observer: WorkerObserver): void {
  let latest: number | undefined
  for (const { planned_to: due, started_at: start } of rows) {
    // The user's own parsers may make something else of them.
    if (!(due instanceof Date && start instanceof Date)) continue
    const waitMs = Math.max(0, start.getTime() - due.getTime())
    observer.waited(message, waitMs)
    latest = Math.max(latest ?? 0, waitMs)
  }
  if (message.slept && latest !== undefined) observer.woken(message, latest)
}
