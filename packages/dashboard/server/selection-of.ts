import {
  FILTER_OPERATORS,
  type FilterOperator,
  TASK_STATES,
  type TaskCursor,
  type TaskFilter,
  type TaskSelectionOptions,
  type TaskState,
} from '@pg-tasks/sql'
import { badRequest } from './services.js'

const OPERATORS: ReadonlySet<string> = new Set(Object.values(FILTER_OPERATORS).flat())

/** Which tasks a query asks for: `state`, `filter=column:operator:value` (several), `order=column` or `-column`. */
export function selectionOf(query: URLSearchParams): TaskSelectionOptions {
  const state = query.get('state') ?? undefined
  if (state !== undefined && !(TASK_STATES as readonly string[]).includes(state))
    throw badRequest(`There is no state ${state}.`)
  const order = query.get('order')
  return {
    state: state as TaskState | undefined,
    filters: query.getAll('filter').map(filterOf),
    ...(order === null || order === ''
      ? {}
      : { order: { column: order.replace(/^-/, ''), descending: order.startsWith('-') } }),
  }
}

/** `after`: where the page before ended, as it was given with that page. */
export function cursorOf(query: URLSearchParams): TaskCursor | undefined {
  const after = query.get('after')
  if (after === null || after === '') return undefined
  try {
    const [key, id] = JSON.parse(after) as [unknown, unknown]
    if ((key === null || typeof key === 'string') && typeof id === 'string' && /^-?\d+$/.test(id)) return { key, id }
  } catch {
    // As below.
  }
  throw badRequest('after is not a cursor of a page.')
}

function filterOf(text: string): TaskFilter {
  const [, column, operator, value] = /^([^:]+):([^:]+):?(.*)$/s.exec(text) ?? []
  if (column === undefined || operator === undefined || !OPERATORS.has(operator)) {
    throw badRequest(`filter ${text} is not column:operator:value.`)
  }
  return { column: decoded(column), operator: operator as FilterOperator, value: value ?? '' }
}

/** A column's name may have a colon, written as %3A. */
function decoded(column: string): string {
  try {
    return decodeURIComponent(column)
  } catch {
    throw badRequest(`filter on ${column}: a percent sign in a column’s name is written as %25.`)
  }
}
