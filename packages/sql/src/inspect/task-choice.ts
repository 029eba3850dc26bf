import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'

/** Which tasks of a type are meant; what is given must all hold. */
export interface TaskChoice {
  readonly ids?: readonly string[] | undefined
  readonly states?: readonly TaskState[] | undefined
  /** A SQL condition on the table's columns (alias `t`); your own text, never a user's input. */
  readonly where?: string | undefined
  /** Ended longer ago than this, in milliseconds. */
  readonly endedAgoMs?: number | undefined
  /** Ended before this instant. */
  readonly endedBefore?: Date | undefined
}

/** The state of the row `t`, now. */
export const STATE_OF_ROW =
  'tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock())'

/** The clean verb gives those that a user's own update canceled a date; until then it is when they were planned. */
const ENDED_AT =
  'case when t.finished_at is not null then t.finished_at when t.canceled then coalesce(t.canceled_at, t.planned_to) else t.failed_at end'

/** How many chosen tasks there are in each state. */
export async function countChosen(
  connection: Queryable,
  type: TaskTypeName,
  choice: TaskChoice,
): Promise<Partial<Record<TaskState, number>>> {
  const { condition, values } = conditionOf(choice)
  const { rows } = await connection.query(
    `select s.state, count(*)::double precision as count from (select ${STATE_OF_ROW} as state from ${tableOf(type)} t where ${condition}) s
     group by s.state`,
    values,
  )
  return Object.fromEntries(
    (rows as Array<{ state: TaskState; count: number }>).map(({ state, count }) => [state, count]),
  )
}

/** Ids of chosen tasks in their order, after `afterId`. */
export async function chosenIds(
  connection: Queryable,
  type: TaskTypeName,
  choice: TaskChoice,
  page: { readonly afterId: string | null; readonly limit: number },
): Promise<string[]> {
  const { condition, values } = conditionOf(choice)
  const { rows } = await connection.query(
    `select t.id::text as id from ${tableOf(type)} t
     where ${condition} and ($${values.length + 1}::bigint is null or t.id > $${values.length + 1}::bigint)
     order by t.id limit $${values.length + 2}::integer`,
    [...values, page.afterId, page.limit],
  )
  return (rows as Array<{ id: string }>).map(({ id }) => id)
}

/** The choice as a condition on `t`. A line break ends a comment that the user's text may end with. */
export function conditionOf({ ids, states, where, endedAgoMs, endedBefore }: TaskChoice): {
  condition: string
  values: unknown[]
} {
  const values: unknown[] = []
  const conditions: string[] = []
  if (ids !== undefined) conditions.push(`t.id = any ($${values.push(ids)}::bigint[])`)
  if (states !== undefined) conditions.push(`${STATE_OF_ROW} = any ($${values.push(states)}::text[])`)
  if (endedAgoMs !== undefined) {
    const ago = `make_interval(secs => $${values.push(endedAgoMs)}::double precision / 1000)`
    conditions.push(`${ENDED_AT} < tasks.clock() - ${ago}`)
  }
  if (endedBefore !== undefined) conditions.push(`${ENDED_AT} < $${values.push(endedBefore)}::timestamptz`)
  if (where !== undefined) conditions.push(`(${where}\n)`)
  return { condition: conditions.length === 0 ? 'true' : conditions.join(' and '), values }
}
