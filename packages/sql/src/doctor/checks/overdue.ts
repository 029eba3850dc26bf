import type { Check } from '../check.js'
import { inWords } from '../in-words.js'

interface OverdueRow {
  readonly lateMs: number | null
  readonly workers: number
}

/** Tasks that are due for long and that nobody starts. */
export const overdueCheck: Check = {
  name: 'overdue',
  title: 'Overdue tasks',
  async examine({ connection, options, types }) {
    const findings = []
    for (const { tableId, name, paused, readable } of types) {
      if (paused || !readable) continue
      // The first entry per priority of the index that acquire walks.
      const { rows } = await connection.query(
        `select 1000 * date_part('epoch', tasks.clock() - min(p.first)) as "lateMs",
           (select count(*)::integer from tasks.leases l where l.table_id = $1::oid and l.leased_until > tasks.clock()) as workers
         from generate_series(0, 3) as g (priority)
         cross join lateral (
           select t.planned_to as first from ${name} t
           where t.priority = g.priority and t.started_at is null and t.finished_at is null and t.failed_at is null
             and not t.canceled and t.lost_count < 2 and not t.held
           order by t.planned_to limit 1
         ) p`,
        [tableId],
      )
      const { lateMs, workers } = rows[0] as OverdueRow
      if (lateMs === null || lateMs < options.overdueMs) continue
      const late = inWords(lateMs)
      findings.push({
        code: workers === 0 ? ('type_unserved' as const) : ('tasks_overdue' as const),
        severity: workers === 0 ? ('critical' as const) : ('warning' as const),
        subject: name,
        problem:
          workers === 0
            ? `A task of ${name} is due for ${late}, and no worker serves the type.`
            : `A task of ${name} is due for ${late}: its ${workers} workers don't keep up.`,
        remedy:
          workers === 0
            ? 'Start a worker of this type: pg-tasks worker <module>.'
            : 'Raise the concurrency, start more processes, or lift a limit of the type.',
        details: { lateMs, workers },
      })
    }
    return findings
  },
}
