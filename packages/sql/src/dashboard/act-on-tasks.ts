import type { Queryable } from '../connection.js'
import { type TaskTypeName, tableOf, verbOf } from '../task-type-name.js'
import type { TaskState } from '../template-row.js'

/** What can be done to many tasks at once. */
export type TaskAction = 'retry' | 'cancel' | 'reset' | 'run_now' | 'clean'

/** What became of a part of them. */
export interface ActedOn {
  readonly done: number
  /** Whose row an open transaction holds; nothing waited for it. */
  readonly held: number
  /** In a state to which the action doesn't apply, or gone meanwhile. */
  readonly passedBy: number
}

/** The states to which an action applies. */
export const ACTION_STATES: Readonly<Record<TaskAction, readonly TaskState[]>> = {
  retry: ['running'],
  cancel: ['scheduled', 'ready', 'running'],
  reset: ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled'],
  run_now: ['scheduled', 'ready'],
  clean: ['finished', 'failed', 'canceled'],
}

/** Does something to tasks, in the order of their ids; rows that somebody holds are passed by. */
export async function actOnTasks(
  connection: Queryable,
  type: TaskTypeName,
  action: TaskAction,
  ids: readonly string[],
): Promise<ActedOn> {
  const table = tableOf(type)
  const states = ACTION_STATES[action].map((state) => `'${state}'`).join(', ')
  const result = await connection.query(
    `with wanted as materialized (
       select t.id from ${table} t where t.id = any ($1::bigint[])
     ), picked as materialized (
       select t.id, tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, tasks.clock()) as state
       from ${table} t where t.id = any ($1::bigint[]) order by t.id for no key update skip locked
     ), acted as materialized (
       ${statementOf(action, type, `select p.id from picked p where p.state in (${states})`)}
     )
     select (select count(*) from acted)::integer as done,
       ((select count(*) from wanted) - (select count(*) from picked))::integer as held`,
    [ids],
  )
  const { done, held } = result.rows[0] as { done: number; held: number }
  return { done, held, passedBy: ids.length - done - held }
}

function statementOf(action: TaskAction, type: TaskTypeName, ids: string): string {
  switch (action) {
    case 'run_now':
      return `update ${tableOf(type)} u set planned_to = tasks.clock() where u.id in (${ids}) returning u.id`
    case 'clean':
      return `delete from ${tableOf(type)} u where u.id in (${ids}) returning u.id`
    default:
      return `select i.id, ${verbOf(type, action)}(i.id) from (${ids} order by p.id) i`
  }
}
