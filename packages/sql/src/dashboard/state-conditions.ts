import type { TaskState } from '../template-row.js'

const UNFINISHED = 't.finished_at is null and t.failed_at is null and not t.canceled'

/** Not started, in the words of the partial indexes, so that the planner may use them. */
const WAITING = `t.started_at is null and ${UNFINISHED}`

/** What stands in the index of waiting tasks, and what stands apart as a suspect. */
export const IN_READY_INDEX = `${WAITING} and t.lost_count < 2 and not t.held`
export const IN_SUSPECT_INDEX = `${WAITING} and t.lost_count >= 2 and not t.held`

/** What is held back by its key, in the words of the index that a type with keys has; held tasks are due. */
export const IN_HELD_INDEX = `t.held::pg_catalog.int4 = 1 and ${WAITING}`

/** Each state as a condition on `t`; `now` is an expression. */
export function stateCondition(state: TaskState, now: string): string {
  switch (state) {
    case 'scheduled':
      return `${WAITING} and t.planned_to > ${now}`
    case 'ready':
      return `${WAITING} and t.planned_to <= ${now}`
    case 'running':
      return `t.started_at is not null and ${UNFINISHED}`
    case 'finished':
      return 't.finished_at is not null'
    case 'failed':
      return 't.failed_at is not null and t.finished_at is null and not t.canceled'
    case 'canceled':
      return 't.canceled and t.finished_at is null'
  }
}

/** The state of `t` as a select expression. */
export function stateOf(now: string): string {
  return `tasks.state(t.planned_to, t.started_at, t.finished_at, t.failed_at, t.canceled, ${now})`
}

/** Every state, in the order in which a task goes through them. */
export const TASK_STATES: readonly TaskState[] = ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled']
