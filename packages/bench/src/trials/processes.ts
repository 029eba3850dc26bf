import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { register } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { Meter } from '../measure/meter.js'
import type { Values } from '../measure/metrics.js'
import { perTask } from '../measure/per-task.js'
import type { TrialContext } from './trial.js'

const PROGRAM = join(import.meta.dirname, 'worker-process.js')

/** What each worker process is told. */
export interface WorkerProcessRequest {
  readonly url: string
  readonly tables: readonly string[]
  readonly concurrency: number
}

/** Several worker processes, each with all types, work off a backlog that is spread evenly over the types. */
export async function processes({ client, url, parameters, postmaster }: TrialContext): Promise<Values> {
  const { count = 1, processes: number = 1, types = 1 } = parameters
  const tables = Array.from({ length: types }, (_, index) => `noop_${index + 1}`)
  for (const table of tables) {
    await client.query(
      `create table tasks.${table} (like tasks.template including defaults including identity including indexes)`,
    )
    await register(client, 'tasks', table)
    await client.query(`insert into tasks.${table} (priority) select 1 from generate_series(1, $1::integer)`, [
      Math.floor(count / types),
    ])
  }
  await client.query('vacuum analyze')

  const request: WorkerProcessRequest = { url, tables, concurrency: types === 1 ? 24 : 4 }
  const workers = await Promise.all(Array.from({ length: number }, () => startProcess(request)))
  const before = await trouble(client)
  const meter = new Meter(client, postmaster)
  await meter.start()
  for (const worker of workers) worker.send('go')
  while (!(await isDrained(client, tables))) await sleep(20)
  const cost = await meter.stop()
  const after = await trouble(client)
  await Promise.all(workers.map(stopProcess))
  const { nodeCpu: _, ...measured } = perTask(cost, count)
  return {
    tasksPerSecond: (Math.floor(count / types) * types) / cost.seconds,
    ...measured,
    deadlocks: after.deadlocks - before.deadlocks,
    rollbacks: after.rollbacks - before.rollbacks,
  }
}

async function startProcess(request: WorkerProcessRequest): Promise<ChildProcess> {
  const child = fork(PROGRAM, [], { stdio: 'inherit' })
  const ready = once(child, 'message')
  child.send(request)
  await ready
  return child
}

async function stopProcess(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.send('stop')
  await ended
}

async function isDrained(client: Client, tables: readonly string[]): Promise<boolean> {
  for (const table of tables) {
    const { rows } = await client.query(
      `select exists (select from tasks.${table} where finished_at is null) as bench_left`,
    )
    if (rows[0].bench_left) return false
  }
  return true
}

async function trouble(client: Client): Promise<{ deadlocks: number; rollbacks: number }> {
  await client.query('select pg_stat_clear_snapshot() as bench_clear')
  const { rows } = await client.query(
    `select deadlocks::float8 as deadlocks, xact_rollback::float8 as rollbacks
     from pg_stat_database where datname = current_database()`,
  )
  return rows[0]
}
