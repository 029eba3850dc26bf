import type { Queryable } from '../connection.js'
import { quoteIdentifier } from '../quote-identifier.js'
import type { TaskTypeName } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'
import { stateOf } from './state-conditions.js'
import type { TaskColumn } from './task-columns.js'
import type { TaskFilter } from './task-filter.js'
import { FEW, NOW, TaskSelection, type TaskSelectionOptions } from './task-selection.js'
import type { TaskCursor } from './task-walk.js'

/** Which page of which tasks. */
export interface BrowseTasksOptions extends TaskSelectionOptions {
  /** The columns to read; what isn't among them never leaves the database. */
  readonly show: readonly string[]
  /** Columns of which only is read whether they are empty. */
  readonly mask?: readonly string[] | undefined
  /** @defaultValue the first page */
  readonly after?: TaskCursor | undefined
  /** @defaultValue 50 */
  readonly limit?: number | undefined
  /**
   * How much of a value is read, in characters.
   * @defaultValue 300
   */
  readonly longest?: number | undefined
}

/** A task as a page lists it: its columns as PostgreSQL writes them. */
export interface BrowsedTask {
  readonly id: string
  readonly state: TaskState
  /** Whether it waits for others of its key. */
  readonly held: boolean
  readonly values: Readonly<Record<string, string | null>>
}

/** A page of tasks. */
export interface TaskPage {
  readonly tasks: readonly BrowsedTask[]
  /** Where the next page begins; null: there is none. */
  readonly next: TaskCursor | null
  /** Set where filters that no index serves were tried on so many rows only; `next` goes on behind them. */
  readonly searched: number | null
}

/** What stands for the value of a masked column. */
export const MASKED = '•••'

/**
 * A page of tasks. Every order is an index's, so a page costs what it shows. A filter on an indexed column that finds few rows is
 * where the search begins, and then everything is searched. Other filters are tried on 10,000 rows at a time, or 2,500 of those that wait, and the page says so.
 */
export async function browseTasks(
  connection: Queryable,
  type: TaskTypeName,
  columns: readonly TaskColumn[],
  options: BrowseTasksOptions,
): Promise<TaskPage> {
  const { limit = 50, after, longest = 300 } = options
  const selection = new TaskSelection(type, columns, options)
  const list = selectList(selection, columns, options, longest)
  const few = await fewestFound(connection, selection)
  const from =
    few === undefined
      ? `${selection.window(selection.filtered ? selection.windowRows : limit + 1, after)} ${selection.where}`
      : selection.found(few, after)
  const result = await connection.query(
    `select ${list} ${from} order by ${selection.orderBy} limit ${limit + 1}`,
    selection.parameters,
  )
  const rows = result.rows as Row[]
  const tasks = rows.slice(0, limit).map((row) => taskOf(row, columns))
  if (rows.length > limit) return { tasks, next: cursorOf(rows[limit - 1] as Row), searched: null }
  if (few !== undefined || !selection.filtered) return { tasks, next: null, searched: null }
  const next = await endOfWindow(connection, new TaskSelection(type, columns, options), after)
  return { tasks, next, searched: next === null ? null : selection.windowRows }
}

/** The filter by which to begin, if one finds few rows. */
export async function fewestFound(connection: Queryable, selection: TaskSelection): Promise<TaskFilter | undefined> {
  let fewest: { readonly filter: TaskFilter; readonly count: number } | undefined
  for (const { filter, text, parameters } of selection.probes()) {
    const result = await connection.query(text, parameters)
    const { count } = result.rows[0] as { count: number }
    if (count <= FEW && (fewest === undefined || count < fewest.count)) fewest = { filter, count }
  }
  return fewest?.filter
}

/** The last row that was looked at; null if that was the end of the table. */
export async function endOfWindow(
  connection: Queryable,
  selection: TaskSelection,
  after: TaskCursor | undefined,
): Promise<TaskCursor | null> {
  // Without its filters, whose parameters would be left over.
  selection.parameters.length = 0
  const { windowRows } = selection
  const result = await connection.query(
    `select t.id::text as id, ${key(selection)} as key ${selection.window(windowRows, after)} order by ${selection.orderBy} offset ${windowRows - 1} limit 1`,
    selection.parameters,
  )
  return (result.rows[0] as TaskCursor | undefined) ?? null
}

interface Row {
  readonly id: string
  readonly state: TaskState
  readonly held: boolean
  readonly key: string | null
  readonly [column: `c${number}`]: string | null
}

function selectList(
  selection: TaskSelection,
  columns: readonly TaskColumn[],
  { show, mask = [] }: BrowseTasksOptions,
  longest: number,
): string {
  const shown = columns.flatMap(({ name }, index) => {
    const quoted = `t.${quoteIdentifier(name)}`
    // By number: a name with a prefix may be too long.
    const as = `c${index}`
    if (mask.includes(name)) return [`case when ${quoted} is not null then '${MASKED}' end as ${as}`]
    return show.includes(name) ? [`left(${quoted}::text, ${longest}) as ${as}`] : []
  })
  return [`t.id::text as id`, `${stateOf(NOW)} as state`, 't.held', `${key(selection)} as key`, ...shown].join(', ')
}

function key(selection: TaskSelection): string {
  return `t.${quoteIdentifier(selection.walk.column)}::text`
}

function taskOf(row: Row, columns: readonly TaskColumn[]): BrowsedTask {
  const values = columns.flatMap(({ name }, index) => {
    const value = row[`c${index}`]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { id: row.id, state: row.state, held: row.held, values: Object.fromEntries(values) }
}

function cursorOf({ id, key }: Row): TaskCursor {
  return { id, key }
}
