import type { TypeCounts } from '../../worker/type/task-counter.js'
import type { Metric } from './text-format.js'
import { labelsOf } from './worker-series.js'

/** What the database holds, as gauges. Every worker of a database tells the same: take the maximum, not the sum. */
export function countMetrics(counts: readonly TypeCounts[]): Metric[] {
  return [
    {
      name: 'pg_tasks_tasks',
      type: 'gauge',
      help: 'Tasks in the database by state; exact up to 10000',
      samples: counts.flatMap((type) =>
        Object.entries(type.states).map(([state, value]) => ({ labels: { ...labelsOf(type), state }, value })),
      ),
    },
    {
      name: 'pg_tasks_oldest_due_seconds',
      type: 'gauge',
      help: 'How long the oldest waiting task has been due; 0: none is',
      samples: counts.map((type) => ({ labels: labelsOf(type), value: (type.oldestDueMs ?? 0) / 1_000 })),
    },
  ]
}
