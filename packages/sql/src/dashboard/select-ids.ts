import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'
import type { TaskTypeName } from '../task-type-name.js'
import { endOfWindow, fewestFound } from './browse-tasks.js'
import type { TaskColumn } from './task-columns.js'
import { TaskSelection, type TaskSelectionOptions } from './task-selection.js'
import type { TaskCursor } from './task-walk.js'

/** Ids of selected tasks, part by part. */
export interface SelectedIds {
  readonly ids: readonly string[]
  /** Where the next part begins; null: this is the last. */
  readonly next: TaskCursor | null
}

/** Ids of the selected tasks after a cursor: at most `limit`, from at most 10,000 rows; a part may be empty and not the last. */
export async function selectIds(
  connection: Queryable,
  type: TaskTypeName,
  columns: readonly TaskColumn[],
  options: TaskSelectionOptions & { readonly after?: TaskCursor | undefined; readonly limit: number },
): Promise<SelectedIds> {
  const { after, limit } = options
  const selection = new TaskSelection(type, columns, options)
  const few = await fewestFound(connection, selection)
  const from =
    few === undefined
      ? `${selection.window(selection.filtered ? selection.windowRows : limit, after)} ${selection.where}`
      : selection.found(few, after)
  const result = await connection.query(
    `select t.id::text as id, t.${quoteIdentifier(selection.walk.column)}::text as key ${from} order by ${selection.orderBy} limit ${limit}`,
    selection.parameters,
  )
  const rows = result.rows as TaskCursor[]
  const ids = rows.map(({ id }) => id)
  if (rows.length === limit) return { ids, next: rows.at(-1) ?? null }
  if (few !== undefined || !selection.filtered) return { ids, next: null }
  return { ids, next: await endOfWindow(connection, new TaskSelection(type, columns, options), after) }
}
