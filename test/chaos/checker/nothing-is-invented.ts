import { isEvent } from '../history.js'
import { type Evidence, taskKey, type Violation } from './evidence.js'
import { forgottenAt } from './forgotten.js'

const check = 'nothing is invented'

/** Nothing runs that was not enqueued, was rolled back, or was not acquired; no run is started twice. */
export function nothingIsInvented(evidence: Evidence): Violation[] {
  return [...strangers(evidence), ...unclaimedRuns(evidence)]
}

function strangers({ events, transitions, types }: Evidence): Violation[] {
  // What the end of a group enqueues has a check of its own.
  const callbacks = new Set(types.map(({ callback }) => callback))
  const asked = new Set<string>()
  const rolledBack = new Set<string>()
  for (const event of events) {
    if (isEvent(event, 'enqueue_asked')) for (const ref of event.refs) asked.add(taskKey(event.table, ref))
    if (isEvent(event, 'enqueue_ended') && event.outcome === 'rolled_back') {
      for (const ref of event.refs) rolledBack.add(taskKey(event.table, ref))
    }
  }
  const seen = new Set<string>()
  return transitions
    .filter(({ from, scheduleKey, table }) => from === null && scheduleKey === null && !callbacks.has(table))
    .flatMap(({ table, taskId, ref }) => {
      const key = taskKey(table, ref ?? '')
      const problem = !asked.has(key)
        ? 'nobody enqueued it'
        : rolledBack.has(key)
          ? 'its transaction was rolled back'
          : seen.has(key)
            ? 'it was enqueued once and is there twice'
            : undefined
      seen.add(key)
      return problem === undefined ? [] : [{ check, message: `${ref}: ${problem}`, task: { table, id: taskId } }]
    })
}

function unclaimedRuns({ events, transitions, types }: Evidence): Violation[] {
  // Their claims are rolled back with what they did, and run again.
  const inOne = new Set(types.filter((type) => type.oneTransaction).map(({ table }) => table))
  const claimed = new Set(
    transitions
      .filter(({ to }) => to === 'running')
      .map(({ table, taskId, newToken }) => `${taskKey(table, taskId)} ${newToken}`),
  )
  const forgotten = forgottenAt(events)
  const started = new Set<string>()
  return events
    .filter((event) => isEvent(event, 'run_started'))
    .filter(({ at, table }) => !forgotten(at) && !inOne.has(table))
    .flatMap(({ table, id, token, process }) => {
      const key = `${taskKey(table, id)} ${token}`
      const problem = !claimed.has(key)
        ? 'started and was never acquired'
        : started.has(key)
          ? 'started twice'
          : undefined
      started.add(key)
      return problem === undefined
        ? []
        : [{ check, message: `run ${token} in ${process}: ${problem}`, task: { table, id } }]
    })
}
