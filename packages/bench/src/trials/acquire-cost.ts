import { randomUUID } from 'node:crypto'
import pg, { type Client } from 'pg'
import type { Values } from '../measure/metrics.js'
import { quantile } from '../measure/statistics.js'
import type { TrialContext } from './trial.js'

/** Rows of one kind that stand in the table, by name of the kind. */
export interface Stock {
  readonly ready?: number
  readonly finished?: number
  /** Planned ahead, with the same priority as the ready ones. */
  readonly ahead?: number
  /** Planned ahead, with the best priority; the ready ones then have all four. */
  readonly aheadAtBest?: number
  /** Failed and canceled, half each. */
  readonly ended?: number
  /** Running under another worker's lease. */
  readonly running?: number
}

const FILL: Record<keyof Stock, string> = {
  finished: `insert into tasks.noop (planned_to, created_at, started_at, finished_at, execution_count, run_token)
    select s, s, s, s, 1, gen_random_uuid() from generate_series(1, $1::integer) i,
      lateral (select now() - interval '10 days' + i * interval '0.1 s') as g (s)`,
  ahead: `insert into tasks.noop (planned_to) select now() + interval '1 day' + i * interval '1 s' from generate_series(1, $1::integer) i`,
  aheadAtBest: `insert into tasks.noop (planned_to, priority)
    select now() + interval '1 day' + i * interval '1 s', 0 from generate_series(1, $1::integer) i`,
  ended: `insert into tasks.noop (planned_to, started_at, execution_count, failed_at, canceled, canceled_at)
    select now() - interval '1 day', case when i % 2 = 0 then now() end, 21, case when i % 2 = 0 then now() end, i % 2 = 1,
      case when i % 2 = 1 then now() end from generate_series(1, $1::integer) i`,
  running: `insert into tasks.noop (planned_to, started_at, execution_count, run_token, run_worker)
    select now() - interval '1 hour', now(), 1, gen_random_uuid(), '11111111-1111-1111-1111-111111111111'
    from generate_series(1, $1::integer) i`,
  ready: `insert into tasks.noop (planned_to, priority)
    select now() - interval '1 hour' + i * interval '0.1 ms', case when $2 then i % 4 else 1 end from generate_series(1, $1::integer) i`,
}

const CALLS = 15

/** Time and buffers of one statement of the worker's on a table with this in it; the first calls warm the cache. */
export async function acquireCost(context: TrialContext): Promise<Values> {
  const { client, url, parameters } = context
  const { stock = {}, statement = 'acquire', analyze = true } = parameters
  for (const kind of ['finished', 'ended', 'running', 'ahead', 'aheadAtBest', 'ready'] as const) {
    const count = stock[kind]
    if (count === undefined) continue
    await client.query(FILL[kind], kind === 'ready' ? [count, stock.aheadAtBest !== undefined] : [count])
  }
  if (analyze) await client.query('vacuum analyze tasks.noop')
  await client.query('create extension if not exists pg_stat_statements schema public')
  const session = new pg.Client({ connectionString: url })
  await session.connect()
  const worker = randomUUID()
  const [text, values] =
    statement === 'acquire'
      ? ['select id from tasks.acquire_tasks_noop($1, $2, false)', [100, worker]]
      : ['select ready_in from tasks.next_due_tasks_noop($1, true)', [worker]]
  const times: number[] = []
  const buffers: number[] = []
  for (let call = 0; call < CALLS; call += 1) {
    await client.query(RESET)
    await session.query({ name: statement, text, values })
    const { milliseconds, blocks } = await lastCall(client, statement)
    if (call < 3) continue
    times.push(milliseconds)
    buffers.push(blocks)
  }
  await session.end()
  // Of the times the quarter that was disturbed least; buffers are the same whoever uses the machine.
  return { callMs: share(times, 0.25), buffers: share(buffers, 0.5) }
}

const RESET = 'select public.pg_stat_statements_reset() as bench_reset'

async function lastCall(client: Client, statement: string): Promise<{ milliseconds: number; blocks: number }> {
  const { rows } = await client.query(
    `select coalesce(sum(total_exec_time), 0)::float8 as bench_ms, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 as blocks
     from public.pg_stat_statements where query like $1 and query not like '%bench\\_%'`,
    [`%${statement}_tasks_noop%`],
  )
  return { milliseconds: rows[0].bench_ms, blocks: rows[0].blocks }
}

function share(values: readonly number[], below: number): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    below,
  )
}
