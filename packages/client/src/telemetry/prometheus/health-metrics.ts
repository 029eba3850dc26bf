import type { TypeHealth, WorkerHealth } from '../../worker/worker-health.js'
import type { Metric } from './text-format.js'
import { labelsOf } from './worker-series.js'

/** What the worker knows of itself, as gauges. */
export function healthMetrics(health: WorkerHealth): Metric[] {
  const one = (name: string, help: string, value: number): Metric => ({
    name,
    type: 'gauge',
    help,
    samples: [{ labels: {}, value }],
  })
  const each = (name: string, help: string, value: (type: TypeHealth) => number): Metric => ({
    name,
    type: 'gauge',
    help,
    samples: health.types.map((type) => ({ labels: labelsOf(type), value: value(type) })),
  })
  return [
    one('pg_tasks_worker_running', '1 from run() until stop()', Number(health.state === 'running')),
    one('pg_tasks_worker_listening', '1 while notifications arrive', Number(health.listening)),
    one('pg_tasks_worker_database_answers', '1 while the database answers', Number(health.database.answers)),
    one('pg_tasks_worker_reconnects', 'How often the listener has begun to listen again', health.reconnects),
    each('pg_tasks_worker_handlers', 'Handlers that run in this worker', (type) => type.running),
    each('pg_tasks_worker_queued', 'Tasks that this worker has acquired and not started', (type) => type.queued),
    each(
      'pg_tasks_worker_unsettled',
      'Runs that have ended and whose outcome is not written',
      (type) => type.unsettled,
    ),
    each('pg_tasks_worker_lease_overdue', '1 while the lease was not renewed in time', (type) =>
      Number(type.lease.state === 'overdue'),
    ),
  ]
}
