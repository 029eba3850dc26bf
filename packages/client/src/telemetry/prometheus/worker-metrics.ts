import { withDeadline } from '../../timers/with-deadline.js'
import type { TypeCounts } from '../../worker/type/task-counter.js'
import type { Worker } from '../../worker/worker.js'
import { observeWorker } from '../observe-worker.js'
import { countMetrics } from './count-metrics.js'
import { healthMetrics } from './health-metrics.js'
import { formatMetrics } from './text-format.js'
import { WorkerSeries } from './worker-series.js'

/** How long a count is given again before the database is asked anew, in milliseconds. */
const COUNTS_KEPT_MS = 5_000

/** How long the database may take, in milliseconds; Prometheus waits 10 s for all of it. */
const COUNTS_DEADLINE_MS = 4_000

/** Collects the metrics of a worker from the moment it is made. */
export class WorkerMetrics {
  readonly #worker: Worker
  readonly #series = new WorkerSeries()
  readonly #stop: () => void
  #counted: { readonly counts: readonly TypeCounts[]; readonly at: number } | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    this.#stop = observeWorker(worker, this.#series)
  }

  /** The metrics in Prometheus' text format. While the database doesn't answer, those that it knows are left out. */
  async text(): Promise<string> {
    const counts = await this.#counts()
    return formatMetrics([
      ...countMetrics(counts ?? []),
      ...healthMetrics(this.#worker.health()),
      ...this.#series.metrics,
    ])
  }

  /** Collects no more. */
  close(): void {
    this.#stop()
  }

  async #counts(): Promise<readonly TypeCounts[] | undefined> {
    const { state } = this.#worker.health()
    if (state !== 'running') return undefined
    const known = this.#counted
    if (known !== undefined && performance.now() - known.at < COUNTS_KEPT_MS) return known.counts
    try {
      const late = (): Error => new Error('The database is late')
      const counts = await withDeadline(this.#worker.counts(), COUNTS_DEADLINE_MS, late)
      this.#counted = { counts, at: performance.now() }
      return counts
    } catch {
      // pg_tasks_worker_database_answers tells.
      return undefined
    }
  }
}
