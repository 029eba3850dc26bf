import type { TypeReference } from '../../worker/worker-events.js'
import { TASK_SECONDS, WAKE_SECONDS } from '../buckets.js'
import type { RunOutcome, WorkerObserver } from '../observe-worker.js'
import { Counter } from './counter.js'
import { Histogram } from './histogram.js'
import type { Labels, Metric } from './text-format.js'

/** What a worker has done since it was made, in series. */
export class WorkerSeries implements WorkerObserver {
  readonly #attempts = new Counter('pg_tasks_attempts_total', 'Executions that this worker has begun')
  readonly #failures = new Counter('pg_tasks_failures_total', 'Executions whose handler threw or passed its run limit')
  readonly #lost = new Counter('pg_tasks_lost_runs_total', 'Runs that lost their task, by reason')
  readonly #rescued = new Counter(
    'pg_tasks_rescued_tasks_total',
    'Tasks with an ended lease that this worker brought back',
  )
  readonly #errors = new Counter('pg_tasks_worker_errors_total', 'Errors that this worker coped with')
  readonly #wait = new Histogram(
    'pg_tasks_wait_seconds',
    'From the time a task was due until it was acquired',
    TASK_SECONDS,
  )
  readonly #run = new Histogram('pg_tasks_run_seconds', 'How long handlers took, by outcome', TASK_SECONDS)
  readonly #wake = new Histogram(
    'pg_tasks_wake_latency_seconds',
    'How late a worker that had slept got the latest of the tasks for which it woke',
    WAKE_SECONDS,
  )

  waited(type: TypeReference, waitMs: number): void {
    this.#wait.observe(labelsOf(type), waitMs / 1_000)
  }

  woken(type: TypeReference, latencyMs: number): void {
    this.#wake.observe(labelsOf(type), latencyMs / 1_000)
  }

  started(type: TypeReference): void {
    this.#attempts.add(labelsOf(type))
  }

  ended(type: TypeReference, outcome: RunOutcome, durationMs: number): void {
    this.#run.observe({ ...labelsOf(type), outcome }, durationMs / 1_000)
  }

  threw(type: TypeReference): void {
    this.#failures.add(labelsOf(type))
  }

  lost(type: TypeReference, reason: string): void {
    this.#lost.add({ ...labelsOf(type), reason })
  }

  rescued(type: TypeReference, count: number): void {
    this.#rescued.add(labelsOf(type), count)
  }

  erred(type: TypeReference | undefined): void {
    this.#errors.add(type === undefined ? {} : labelsOf(type))
  }

  get metrics(): Metric[] {
    const all = [
      this.#attempts,
      this.#failures,
      this.#lost,
      this.#rescued,
      this.#errors,
      this.#wait,
      this.#run,
      this.#wake,
    ]
    return all.map(({ metric }) => metric)
  }
}

export function labelsOf({ schema, table }: TypeReference): Labels {
  return { schema, table }
}
