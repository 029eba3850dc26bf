import type { ClientBase, Pool } from 'pg'
import { rowsOf } from '../sql/rows-of.js'
import type { Run } from '../sql/task-in-state.js'

export interface Begun {
  readonly marked: boolean
  readonly value: unknown
  readonly key: string
}

/** Begins a step as a caller in plain SQL does. */
export async function begin(
  connection: ClientBase | Pool,
  table: string,
  run: Run,
  step = 'send',
  { probe = false } = {},
): Promise<Begun> {
  const [row] = await rowsOf<Begun & Record<string, unknown>>(
    connection,
    `select marked, value, idempotency_key as key from tasks.begin_step('tasks.${table}'::regclass, $1, $2, $3, $4)`,
    [run.id, run.token, step, probe],
  )
  return row as Begun
}

/** Marks a step as a caller in plain SQL does. */
export async function mark(
  connection: ClientBase | Pool,
  table: string,
  run: Run,
  step = 'send',
  value: unknown = null,
): Promise<void> {
  await connection.query(`select tasks.mark_step('tasks.${table}'::regclass, $1, $2, $3, $4)`, [
    run.id,
    run.token,
    step,
    value === null ? null : JSON.stringify(value),
  ])
}

/** Steps of a task that are marked. */
export async function marksOf(connection: ClientBase | Pool, table: string, id: string): Promise<string[]> {
  const rows = await rowsOf<{ step: string }>(
    connection,
    `select step from tasks.marks where table_id = to_regclass('tasks.${table}') and task_id = $1 order by step`,
    [id],
  )
  return rows.map(({ step }) => step)
}

/** Acquires the only due task of the table. */
export async function acquireAgain(connection: ClientBase | Pool, table: string, id: string): Promise<Run> {
  const [run] = await rowsOf<Run>(
    connection,
    `select id::text, run_token as token from tasks.acquire_tasks_${table}(1)`,
  )
  if (run?.id !== id) throw new Error(`Task ${run?.id} was acquired instead of ${id}`)
  return run
}
