import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { ColumnValues } from './enqueue.js'
import { jsonOfRows } from './json-of-rows.js'

/** When two tasks with equal values in the columns may not be there together. */
export interface UniqueRule {
  readonly columns: readonly string[]
  /** Whether a running task counts too; without, it may have one follow-up. @defaultValue false */
  readonly whileRunning?: boolean | undefined
}

/** Makes the waiting tasks of a type unique by some columns; null: no longer. */
export async function uniqueWhile(connection: Queryable, type: TaskTypeName, rule: UniqueRule | null): Promise<void> {
  await connection.query('select tasks.unique_while($1::text, $2::text, $3::text[], $4::text[])', [
    type.schema,
    type.table,
    rule?.columns ?? null,
    rule?.whileRunning === true ? ['scheduled', 'ready', 'running'] : ['scheduled', 'ready'],
  ])
}

/**
 * What a new task does that meets its like: nothing (`ignore`), gives it its columns (`replace`), moves it later if it is due
 * earlier (`postpone`, debounce), or earlier (`advance`).
 */
export type OnConflict = 'ignore' | 'replace' | 'postpone' | 'advance'

/** What became of a new task; the id is that of the task that is there. */
export type EnqueueOutcome =
  | { readonly id: string; readonly outcome: 'enqueued' | 'replaced' | 'postponed' | 'advanced' }
  /** null: its unique column is computed, left to its default or changed by a trigger, so which one it met can't be told. */
  | { readonly id: string | null; readonly outcome: 'ignored' }
  /** A trigger of the table swallowed it. */
  | { readonly id: null; readonly outcome: 'not_taken' }

/** Enqueues tasks of a type with unique tasks; in the order of the rows. */
export async function enqueueUnique(
  connection: Queryable,
  type: TaskTypeName,
  rows: readonly ColumnValues[],
  options: { readonly onConflict: OnConflict; readonly delayMs?: number | undefined },
): Promise<EnqueueOutcome[]> {
  const table = tableOf(type)
  const json = await jsonOfRows(connection, table, rows)
  const result = await connection.query(
    `select id::text as id, outcome from tasks.enqueue($1::regclass, $2::jsonb, $3::text,
       make_interval(secs => $4::double precision / 1000)) order by place`,
    [table, json, options.onConflict, options.delayMs ?? null],
  )
  return result.rows as EnqueueOutcome[]
}
