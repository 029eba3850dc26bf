import type { ClientBase, Pool } from 'pg'
import { rowsOf, scalarOf } from './rows-of.js'

export const STATES = ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled'] as const
export type State = (typeof STATES)[number]

export interface Run {
  readonly id: string
  /** The token that its last run had, whether or not the row still has it. */
  readonly token: string
}

/** Enqueues a task and acquires it; nothing else may be due. */
export async function startRun(connection: ClientBase | Pool, name: string): Promise<Run> {
  const id = await scalarOf<string>(
    connection,
    `insert into tasks.${name} (planned_to) values ('-infinity') returning id`,
  )
  const [row] = await rowsOf<Run>(connection, `select id, run_token as token from tasks.acquire_tasks_${name}(1)`)
  if (row?.id !== id) throw new Error(`Task ${row?.id} was acquired instead of ${id}`)
  return row
}

/** Makes a task that has been run once and is in this state now. */
export async function taskInState(connection: ClientBase | Pool, name: string, state: State): Promise<Run> {
  const run = await startRun(connection, name)
  const { id } = run
  if (state === 'scheduled') await connection.query(`select tasks.retry_tasks_${name}($1, delay => '1 day')`, [id])
  if (state === 'finished') await connection.query(`select tasks.finish_tasks_${name}($1)`, [id])
  if (state === 'canceled') await connection.query(`select tasks.cancel_tasks_${name}($1)`, [id])
  if (state === 'ready') await connection.query(`select tasks.retry_tasks_${name}($1, planned_to => now())`, [id])
  if (state === 'failed') {
    await connection.query(`update tasks.${name} set execution_count = 2147483647 where id = $1`, [id])
    await connection.query(`select tasks.retry_tasks_${name}($1, error => 'boom')`, [id])
  }
  const found = await stateOf(connection, name, id)
  if (found !== state) throw new Error(`Task ${id} is ${found} instead of ${state}`)
  return run
}

/** The state of a task; undefined when there is no such row. */
export async function stateOf(connection: ClientBase | Pool, name: string, id: string): Promise<State | undefined> {
  const [row] = await rowsOf<{ state: State }>(
    connection,
    `select tasks.state(planned_to, started_at, finished_at, failed_at, canceled, tasks.clock()) as state
     from tasks.${name} where id = $1`,
    [id],
  )
  return row?.state
}
