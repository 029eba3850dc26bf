import type { Pool } from 'pg'

/** Workers whose leases cover half of the running tasks. */
export const WORKERS = [0, 1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`)

/**
 * 100,000 finished, 100,000 ready and 100,000 future tasks of all priorities, 10,000 running, of which a tenth has failed or
 * was canceled, mixed all over the table.
 */
export async function fillTable(pool: Pool, table: string): Promise<void> {
  await pool.query(
    `insert into ${table} (planned_to, priority, started_at, finished_at, failed_at, failure_reason, canceled, canceled_at,
       execution_count, run_token, run_worker, run_until)
     select case when kind.future then now() + g * interval '1 s' + interval '30 days' else now() - g * interval '1 s' end, g % 4,
       case when kind.finished or kind.taken then now() - interval '1 s' end,
       case when kind.finished then now() - g * interval '1 s' end,
       case when g % 620 = 61 then now() end, case when g % 620 = 61 then 'error' end,
       g % 620 = 60, case when g % 620 = 60 then now() end,
       (kind.finished or kind.taken)::integer,
       case when kind.taken then gen_random_uuid() end,
       case when g % 62 = 60 then ($1::uuid[])[1 + g % 3] end,
       case when g % 62 = 61 then now() + interval '1 day' end
     from generate_series(1, 310000) g
     cross join lateral (select g % 62 < 20 as finished, g % 62 between 40 and 59 as future, g % 62 >= 60 as taken) kind`,
    [WORKERS],
  )
  await pool.query(
    `insert into tasks.leases (worker_id, table_id, leased_until)
     select w, $2::regclass, now() + interval '1 day' from unnest($1::uuid[]) w
     on conflict (worker_id, table_id) do update set leased_until = excluded.leased_until`,
    [WORKERS, table],
  )
}

/** Takes all ready tasks away and leaves their dead entries to vacuum. */
export async function deleteReady(pool: Pool, table: string): Promise<void> {
  await pool.query(
    `delete from ${table}
     where started_at is null and finished_at is null and failed_at is null and not canceled and planned_to <= now()`,
  )
  await pool.query(`vacuum ${table}`)
}
