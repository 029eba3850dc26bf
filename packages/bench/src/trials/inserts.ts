import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { perTask } from '../measure/per-task.js'
import { pgbench } from './pgbench.js'
import type { TrialContext } from './trial.js'

/** Yardstick: the trigger that others use. */
const NOTIFY_ALWAYS = `
  create function notify_always() returns trigger language plpgsql as
    $$ begin perform pg_notify('always', tg_table_name); return null; end $$;
  create trigger notify_always after insert on tasks.noop for each statement execute function notify_always()`

/** Single-row inserts into our table by a client in C. */
export async function inserts({ client, url, parameters, postmaster }: TrialContext): Promise<Values> {
  const { clients = 8, maxSeconds = 4, workerAwake = false, notifyAlways = false } = parameters
  if (notifyAlways) await client.query(NOTIFY_ALWAYS)
  if (workerAwake) await client.query("select tasks.stay_awake('tasks.noop'::regclass)")
  const script = 'insert into tasks.noop (mark) values (1);\n'
  await pgbench({ url, script, clients, transactions: 50 })
  const meter = new Meter(client, postmaster)
  await meter.start()
  const { transactions, perSecond, latencyMs } = await pgbench({ url, script, clients, seconds: maxSeconds })
  const cost = await meter.stop()
  const { nodeCpu: _, ...measured } = perTask(cost, transactions)
  return { tasksPerSecond: perSecond, callMs: latencyMs, ...measured }
}
