import { randomUUID } from 'node:crypto'
import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { perTask } from '../measure/per-task.js'
import { pgbench } from './pgbench.js'
import type { TrialContext } from './trial.js'

/** The statements of our worker, sent by a client in C: what the server itself can do. */
export async function serverLimit({ peer, client, url, parameters, postmaster }: TrialContext): Promise<Values> {
  const { count = 1, clients = 1, batchSize = 500 } = parameters
  await peer.fill(count)
  await client.query('vacuum analyze')
  const script = `
    select array_agg(id) as ids, array_agg(run_token) as tokens
    from tasks.acquire_tasks_noop(${batchSize}, '${randomUUID()}', true) \\gset
    select count(*) from tasks.finish_many_tasks_noop(:ids, :tokens);
  `
  const transactions = Math.floor(count / batchSize / clients)
  const meter = new Meter(client, postmaster)
  await meter.start()
  await pgbench({ url, script, clients, transactions })
  const cost = await meter.stop()
  const { rows } = await client.query(
    'select count(*)::int as bench_done from tasks.noop where finished_at is not null',
  )
  const done: number = rows[0].bench_done
  const { nodeCpu: _, ...measured } = perTask(cost, done)
  return { tasksPerSecond: done / cost.seconds, ...measured }
}
