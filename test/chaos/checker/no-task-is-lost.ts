import { isEvent } from '../history.js'
import { type Evidence, type Transition, taskKey, type Violation } from './evidence.js'
import { forgottenAt } from './forgotten.js'

/** Every enqueue that was acknowledged is a task, and every task has ended and is gone only for a reason. */
export function noTaskIsLost(evidence: Evidence): Violation[] {
  return [...missing(evidence), ...deletedTooEarly(evidence)]
}

function missing({ events, transitions }: Evidence): Violation[] {
  const forgotten = forgottenAt(events)
  const inserted = new Set(
    transitions.filter(({ from }) => from === null).map(({ table, ref }) => taskKey(table, ref ?? '')),
  )
  return events
    .filter((event) => isEvent(event, 'enqueue_ended'))
    .filter(({ outcome, at }) => outcome === 'acknowledged' && !forgotten(at))
    .flatMap(({ table, refs, ids, at }) =>
      refs
        .filter((ref) => !inserted.has(taskKey(table, ref)))
        .map((ref) => {
          const id = ids[refs.indexOf(ref)] ?? '?'
          return { check: 'no task is lost', message: `${ref} was enqueued and is not there`, task: { table, id }, at }
        }),
    )
}

function deletedTooEarly({ transitions, types }: Evidence): Violation[] {
  const deletesAtFinish = new Set(
    types.filter(({ register }) => register.storageTime === '0').map(({ table }) => table),
  )
  const isAllowed = ({ from, table }: Transition): boolean =>
    from === 'running' ? deletesAtFinish.has(table) : from !== 'waiting'
  return transitions
    .filter((transition) => transition.to === null && !isAllowed(transition))
    .map(({ table, taskId, from }) => ({
      check: 'no task is lost',
      message: `deleted while it was ${from}`,
      task: { table, id: taskId },
    }))
}
