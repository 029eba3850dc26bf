import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'

/** The lease of a worker on a type. */
export interface WorkerLease {
  readonly workerId: string
  readonly schema: string
  readonly table: string
  readonly openedAt: string
  readonly leasedUntil: string
  /** Milliseconds until the lease ends; negative: it has ended, and its tasks are about to be brought back. */
  readonly remainingMs: number
}

/** A session that takes part in the wake-ups of workers. */
export interface WorkerSessionInfo {
  readonly pid: number
  readonly applicationName: string
  readonly role: string
  readonly address: string | null
  readonly since: string
  readonly schema: string
  readonly table: string
  /** `sleeping` until a notification comes; `awake`: will look again by itself. */
  readonly state: 'sleeping' | 'awake'
}

/** All leases, the longest-lived workers first. */
export async function listLeases(connection: Queryable): Promise<WorkerLease[]> {
  const result = await connection.query(
    `select l.worker_id::text as "workerId", n.nspname::text as "schema", c.relname::text as "table", l.opened_at::text as "openedAt",
       l.leased_until::text as "leasedUntil",
       case when isfinite(l.leased_until) then (1000 * extract(epoch from l.leased_until - tasks.clock()))::double precision else 1e15 end as "remainingMs"
     from tasks.leases l
     join pg_catalog.pg_class c on c.oid = l.table_id
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     order by min(l.opened_at) over (partition by l.worker_id), l.worker_id, n.nspname, c.relname
     limit 1000`,
  )
  return result.rows as WorkerLease[]
}

/** How many tasks of a type each worker runs, counted up to 10,000 in all; `null` stands for claimants without a worker. */
export async function countRunning(
  connection: Queryable,
  type: TaskTypeName,
): Promise<Array<{ readonly workerId: string | null; readonly running: number; readonly oldestMs: number }>> {
  const result = await connection.query(
    `select x.run_worker::text as "workerId", count(*)::integer as running,
       (1000 * extract(epoch from tasks.clock() - min(x.started_at)))::double precision as "oldestMs"
     from (select t.run_worker, t.started_at from ${tableOf(type)} t
       where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled limit 10000) x
     group by x.run_worker`,
  )
  return result.rows as Array<{ workerId: string | null; running: number; oldestMs: number }>
}

/** Sessions that sleep or promise to be awake, by the advisory locks of the wake-ups. */
export async function listWorkerSessions(connection: Queryable): Promise<WorkerSessionInfo[]> {
  const result = await connection.query(
    `select l.pid, coalesce(a.application_name, '') as "applicationName", coalesce(a.usename::text, '') as role, host(a.client_addr) as address,
       a.backend_start::text as since, n.nspname::text as "schema", c.relname::text as "table",
       case l.classid::bigint when 1886415982 then 'sleeping' else 'awake' end as state
     from pg_catalog.pg_locks l
     join pg_catalog.pg_class c on c.oid = l.objid
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     left join pg_catalog.pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.objsubid = 2 and l.granted and l.classid::bigint in (1886415982, 1886415983)
       and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
     order by a.backend_start, l.pid, n.nspname, c.relname
     limit 1000`,
  )
  return result.rows as WorkerSessionInfo[]
}
