import type { Client } from 'pg'
import type { TaskRow } from '../world/task-row.js'
import type { Lease } from '../world/world.js'
import { instantColumn } from './instant.js'

/** The committed rows, in the words of the model, by id and by worker. */
export interface Observed {
  readonly tasks: readonly TaskRow[]
  readonly leases: readonly Lease[]
}

/** Reads what is committed, and sends itself a marker behind all notifications of before. */
export async function observe(
  control: Client,
  table: string,
  marker: string,
  runOf: (token: string) => number | null,
): Promise<Observed> {
  const { rows } = await control.query<{ tasks: (TaskRow & { token: string | null })[]; leases: Lease[] }>(
    `select pg_notify('pg_tasks', $1),
       (select coalesce(jsonb_agg(jsonb_build_object(
         'id', t.id, 'priority', t.priority, 'plannedTo', ${instantColumn('t.planned_to')}, 'startedAt', ${instantColumn('t.started_at')},
         'finishedAt', ${instantColumn('t.finished_at')}, 'failedAt', ${instantColumn('t.failed_at')},
         'canceledAt', case when t.canceled then ${instantColumn('t.canceled_at')} end, 'failureReason', t.failure_reason,
         'executionCount', t.execution_count, 'lostCount', t.lost_count, 'token', t.run_token,
         'worker', right(t.run_worker::text, 12)::int, 'runUntil', ${instantColumn('t.run_until')}
       ) order by t.id), '[]') from tasks.${table} t) as tasks,
       (select coalesce(jsonb_agg(jsonb_build_object(
         'worker', right(l.worker_id::text, 12)::int, 'leasedUntil', ${instantColumn('l.leased_until')}
       ) order by l.worker_id), '[]') from tasks.leases l) as leases`,
    [marker],
  )
  const [row] = rows
  if (row === undefined) throw new Error('Nothing was observed.')
  // -1: a token that nobody was given.
  const tasks = row.tasks.map(({ token, ...task }) => ({ ...task, run: token === null ? null : (runOf(token) ?? -1) }))
  return { tasks, leases: row.leases }
}
