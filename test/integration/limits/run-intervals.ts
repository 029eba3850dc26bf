import type { Pool } from 'pg'

/** One run of a task, from its acquire to its outcome. */
export interface RunInterval {
  readonly task_id: string
  readonly key: string | null
  readonly started: number
  readonly ended: number
}

/** All runs of a type that keeps history, and the key that its tasks still have, in microseconds. */
export async function runIntervals(pool: Pool, table: string): Promise<RunInterval[]> {
  const { rows } = await pool.query<RunInterval>(
    `select a.task_id::text, t.key::text, (extract(epoch from a.started_at) * 1e6)::float8 as started,
       (extract(epoch from a.ended_at) * 1e6)::float8 as ended
     from tasks.attempts a left join ${table} t on t.id = a.task_id
     where a.table_id = '${table}'::regclass order by a.started_at`,
  )
  return rows
}

/** Places where more than so many runs were under way at once. */
export function overlaps(intervals: readonly RunInterval[], most: number): RunInterval[] {
  const found: RunInterval[] = []
  let running: RunInterval[] = []
  for (const next of [...intervals].sort((a, b) => a.started - b.started)) {
    running = running.filter((one) => one.ended > next.started)
    running.push(next)
    if (running.length > most) found.push(next)
  }
  return found
}

/** The runs of each key; those without one are left out. */
export function runsPerKey(intervals: readonly RunInterval[]): Map<string, RunInterval[]> {
  const keys = new Map<string, RunInterval[]>()
  for (const one of intervals) {
    if (one.key === null) continue
    const runs = keys.get(one.key)
    if (runs === undefined) keys.set(one.key, [one])
    else runs.push(one)
  }
  return keys
}

/** As {@link overlaps}, for each key by itself. */
export function overlapsPerKey(intervals: readonly RunInterval[], most: number): RunInterval[] {
  return [...runsPerKey(intervals).values()].flatMap((runs) => overlaps(runs, most))
}
