import type { Pool } from 'pg'
import { printTable } from './print-table.js'

/** The worker that was killed, and the tasks that it held. */
export interface Killed {
  readonly name: string
  readonly taskIds: readonly string[]
}

/** What happened, asked of the database: states and attempts, and who ran what. */
export async function report(pool: Pool, killed: Killed): Promise<string> {
  const states = await pool.query<[string, number, number]>({
    rowMode: 'array',
    text: `select tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) as state,
             execution_count as attempts, count(*)::integer as tasks
           from tasks.compress_file group by 1, 2 order by 1, 2`,
  })
  const workers = await pool.query<[string, number, string]>({
    rowMode: 'array',
    text: `select recorded_by, count(*)::integer, sum(bytes)::text from public.copies group by 1 order by 1`,
  })
  const finished = new Map(workers.rows.map(([name, ...rest]) => [name, rest]))
  const names = [...new Set([...finished.keys(), killed.name])].sort()
  return [
    printTable(['state', 'attempts', 'tasks'], states.rows),
    printTable(
      ['worker', 'finished', 'bytes read', 'held when killed'],
      names.map((name) => [
        name === killed.name ? `${name} (killed)` : name,
        ...(finished.get(name) ?? [0, 0]),
        name === killed.name ? killed.taskIds.length : null,
      ]),
    ),
  ].join('\n\n')
}

/** The result in one sentence, also asked of the database. */
export async function conclusion(pool: Pool, killed: Killed): Promise<string> {
  const { rows } = await pool.query<{ files: number; twice: number }>(
    `select (select count(distinct path)::integer from public.copies) as files,
       (select count(*)::integer from tasks.compress_file where execution_count > 1 and id = any ($1)) as twice`,
    [killed.taskIds],
  )
  const { files = 0, twice = 0 } = rows[0] ?? {}
  const all = files === 1 ? 'The one file was' : `Every one of the ${files} files was`
  const again = twice === 1 ? '1 was attempted twice' : `${twice} were attempted twice`
  return `${all} recorded once; ${again}, because ${killed.name} was killed while it held ${twice === 1 ? 'it' : 'them'}.`
}
