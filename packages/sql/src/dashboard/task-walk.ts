import { PgTasksSqlError } from '../errors.js'
import { quoteIdentifier } from '../quote-identifier.js'
import type { TaskState } from '../template-row.js'
import { IN_HELD_INDEX, IN_READY_INDEX, IN_SUSPECT_INDEX, stateCondition } from './state-conditions.js'
import type { TaskColumn } from './task-columns.js'

/** In which order tasks are listed. */
export interface TaskOrder {
  /** The id, or a column that is `sortable`. */
  readonly column: string
  readonly descending: boolean
}

/** Where a page ends: the value of the order's column as text (null: none), and the id. */
export interface TaskCursor {
  readonly key: string | null
  readonly id: string
}

/** One way through a table along an index: its branches give rows of one order each, to be merged. */
export interface TaskWalk {
  /** The column that gives the order. */
  readonly column: string
  /** Its type, to read a cursor's key by. */
  readonly type: string
  readonly descending: boolean
  readonly branches: readonly string[]
  /** Conditions that the index doesn't serve: what is read for them must be bounded. */
  readonly filters: readonly string[]
}

/** The order that a state's index gives, and its direction unless another is asked for. */
const BY_STATE: Readonly<Record<TaskState, TaskOrder>> = {
  scheduled: { column: 'planned_to', descending: false },
  ready: { column: 'planned_to', descending: false },
  running: { column: 'started_at', descending: true },
  finished: { column: 'finished_at', descending: true },
  failed: { column: 'failed_at', descending: true },
  canceled: { column: 'canceled_at', descending: true },
}

/** The order in which a state's tasks are listed unless another is asked for; without a state, the newest first. */
export function defaultOrder(state: TaskState | undefined): TaskOrder {
  return state === undefined ? { column: 'id', descending: true } : BY_STATE[state]
}

/**
 * Finds the index that gives an order. A state has one of its own; an order by the user's columns, or by id, goes through all
 * states, and the state is a condition like others.
 *
 * @param now - an expression
 * @param hasKeys - whether tasks may be held back by their keys
 */
export function walkOf(
  state: TaskState | undefined,
  order: TaskOrder,
  columns: readonly TaskColumn[],
  now: string,
  hasKeys = false,
): TaskWalk {
  const { column, descending } = order
  if (state !== undefined && BY_STATE[state].column === column) {
    return { column, descending, type: 'timestamptz', branches: branchesOf(state, now, hasKeys), filters: [] }
  }
  const known = columns.find(({ name }) => name === column)
  if (known === undefined || !(known.sortable || column === 'id')) {
    throw new PgTasksSqlError('INVALID_ARGUMENT', `order: no index gives the order by ${JSON.stringify(column)}.`)
  }
  return {
    column,
    descending,
    type: known.type,
    branches: [known.notNull ? 'true' : `t.${quoteIdentifier(column)} is not null`],
    filters: state === undefined ? [] : [stateCondition(state, now)],
  }
}

/** Waiting tasks stand in their index by priority first; held ones, of a type with keys, in one of their own. */
function branchesOf(state: TaskState, now: string, hasKeys: boolean): readonly string[] {
  if (state !== 'ready' && state !== 'scheduled') return [stateCondition(state, now)]
  const due = `t.planned_to ${state === 'ready' ? '<=' : '>'} ${now}`
  return [
    ...[0, 1, 2, 3].map((priority) => `${IN_READY_INDEX} and t.priority = ${priority}::smallint and ${due}`),
    `${IN_SUSPECT_INDEX} and ${due}`,
    ...(hasKeys ? [`${IN_HELD_INDEX} and ${due}`] : []),
  ]
}

/** What comes after a cursor on the walk; the plain bound beside the pair lets every index serve it. */
export function afterCursor(walk: TaskWalk, cursor: TaskCursor, parameter: (value: unknown) => string): string {
  const name = `t.${quoteIdentifier(walk.column)}`
  const comparison = walk.descending ? '<' : '>'
  if (walk.column === 'id') return `t.id ${comparison} ${parameter(cursor.id)}::bigint`
  // A date that is missing comes first in the descending order of an index.
  if (cursor.key === null)
    return `(${name} is null and t.id ${comparison} ${parameter(cursor.id)}::bigint or ${name} is not null)`
  const key = `${parameter(cursor.key)}::text::${walk.type}`
  return `${name} ${comparison}= ${key} and (${name}, t.id) ${comparison} (${key}, ${parameter(cursor.id)}::bigint)`
}

/** ORDER BY of the walk, on `t`. */
export function orderBy(walk: TaskWalk): string {
  const direction = walk.descending ? 'desc' : 'asc'
  return walk.column === 'id'
    ? `t.id ${direction}`
    : `t.${quoteIdentifier(walk.column)} ${direction}, t.id ${direction}`
}
