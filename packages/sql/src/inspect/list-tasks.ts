import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'
import { conditionOf, STATE_OF_ROW, type TaskChoice } from './task-choice.js'

/** A task as it stands in its table. */
export interface ListedTask {
  readonly state: TaskState
  /** All its columns, the user's too, as the driver reads them. */
  readonly row: Readonly<Record<string, unknown>>
}

export interface ListTasksOptions extends TaskChoice {
  /**
   * Most tasks.
   * @defaultValue 20
   */
  readonly limit?: number | undefined
  /**
   * For the next page: the id of the last task.
   * @defaultValue from the beginning
   */
  readonly afterId?: string | undefined
  /** The newest first, or the oldest. @defaultValue 'newest' */
  readonly order?: 'newest' | 'oldest' | undefined
}

/** Not a name that a user's column has. */
const STATE = 'pg_tasks_state'

/** Tasks of a type, by id. */
export async function listTasks(
  connection: Queryable,
  type: TaskTypeName,
  options: ListTasksOptions = {},
): Promise<ListedTask[]> {
  const { limit = 20, afterId = null, order = 'newest' } = options
  const { condition, values } = conditionOf(options)
  const [sign, direction] = order === 'newest' ? ['<', 'desc'] : ['>', 'asc']
  const { rows } = await connection.query(
    `select ${STATE_OF_ROW} as ${STATE}, t.* from ${tableOf(type)} t
     where ${condition} and ($${values.length + 1}::bigint is null or t.id ${sign} $${values.length + 1}::bigint)
     order by t.id ${direction} limit $${values.length + 2}::integer`,
    [...values, afterId, limit],
  )
  return (rows as Array<Record<string, unknown>>).map(({ [STATE]: state, ...row }) => ({
    state: state as TaskState,
    row: { ...row, id: String(row.id) },
  }))
}
