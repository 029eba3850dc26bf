import type { TaskState } from '@pg-tasks/sql'
import type { ShownColumn } from '../../../server/column-rules.js'

/** The column of the queue that tells most about tasks of a state. */
const TELLING: Readonly<Record<TaskState | 'all', readonly string[]>> = {
  all: ['created_at'],
  scheduled: ['planned_to', 'execution_count'],
  ready: ['planned_to', 'priority', 'execution_count'],
  running: ['started_at', 'execution_count'],
  finished: ['finished_at'],
  failed: ['failed_at', 'execution_count', 'last_error'],
  canceled: ['canceled_at', 'comment'],
}

/** The columns of the table: those that the query names, else the type's own and what tells most about the state. */
export function visibleColumns(columns: readonly ShownColumn[], query: URLSearchParams): ShownColumn[] {
  const chosen = query.get('columns')
  const names = chosen === null ? undefined : new Set(chosen.split(',').map(decodeURIComponent))
  const telling = TELLING[(query.get('state') ?? 'all') as TaskState] ?? TELLING.all
  const visible = columns.filter(({ name, template }) =>
    names === undefined ? !template || telling.includes(name) : names.has(name),
  )
  return [...visible.filter(({ template }) => template), ...visible.filter(({ template }) => !template)].filter(
    ({ name }) => name !== 'id',
  )
}
