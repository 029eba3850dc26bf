import { quoteIdentifier, type RegisterOptions, register } from '@pg-tasks/sql'
import type { ClientBase, Pool } from 'pg'
import { isAnotherTry } from './tries.js'

export interface TaskTypeOptions extends RegisterOptions {
  /** @defaultValue 'tasks' */
  readonly schema?: string
  /** The user's own columns, as in CREATE TABLE. */
  readonly columns?: string
}

/** A row as a test looks at it. */
// biome-ignore lint/suspicious/noExplicitAny: it also has the columns that the test gave its table
export type TaskRow = Record<string, any>

/** Creates a task table as the documentation does, and registers it. Another try of a test gets a new one under the same name. */
export async function createTaskType(pool: Pool, table: string, options: TaskTypeOptions = {}): Promise<void> {
  const { schema = 'tasks', columns, ...settings } = options
  if (isAnotherTry()) await dropTaskType(pool, schema, table)
  const own = columns === undefined ? '' : `, ${columns}`
  await pool.query(
    `create table ${quoteIdentifier(schema)}.${quoteIdentifier(table)}
       (like tasks.template including defaults including identity including indexes${own})`,
  )
  await register(pool, schema, table, settings)
}

/** Drops a type that a first try of the test has left, and what its handlers wrote. */
export async function dropTaskType(pool: Pool | ClientBase, schema: string, table: string): Promise<void> {
  const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
  const { rows } = await pool.query('select from tasks.types where table_id = to_regclass($1)', [name])
  if (rows.length > 0) await pool.query('select tasks.unregister($1, $2)', [schema, table])
  await pool.query(`drop table if exists ${name} cascade`)
  // Where tests with several task types let handlers write.
  const { rows: effects } = await pool.query(
    `select from pg_attribute where attrelid = to_regclass('public.effects') and attname = 'of'`,
  )
  if (effects.length > 0) await pool.query('delete from public.effects where of = $1', [table])
}

/** Inserts rows that have nothing but defaults; returns their ids in ascending order. */
export async function insertTasks(pool: Pool, table: string, count = 1): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into tasks.${quoteIdentifier(table)} (trace_id) select null from generate_series(1, $1) returning id`,
    [count],
  )
  return rows.map((row) => row.id)
}

/** A row with its state, as `tasks.state` derives it. */
export async function readTask(pool: Pool, table: string, id: string): Promise<TaskRow> {
  const { rows } = await pool.query<TaskRow>(`${withState(table)} where t.id = $1`, [id])
  const [row] = rows
  if (row === undefined) throw new Error(`There is no task ${id} in ${table}.`)
  return row
}

/** All rows by id, with their states. */
export async function readTasks(pool: Pool, table: string): Promise<TaskRow[]> {
  const { rows } = await pool.query<TaskRow>(`${withState(table)} order by t.id`)
  return rows
}

/** How many tasks are in each state; states without tasks are left out. */
export async function countStates(pool: Pool, table: string): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ state: string; count: number }>(
    `select s.state, count(*)::int from (${withState(table)}) s group by 1`,
  )
  return Object.fromEntries(rows.map((row) => [row.state, row.count]))
}

function withState(table: string): string {
  return `select t.*, tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()) as state
    from tasks.${quoteIdentifier(table)} t`
}
