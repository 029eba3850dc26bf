import { type HistoryEvent, isEvent } from '../history.js'
import { type Evidence, taskKey, type Violation } from './evidence.js'
import { forgottenAt } from './forgotten.js'

const check = 'steps are done once'

/**
 * A step outside is repeated only through the gap: when no mark of an earlier run was acknowledged. Its key is the same each
 * time, and no other task's.
 */
export function stepsAreDoneOnce(evidence: Evidence): Violation[] {
  return [...repeatedAfterMark(evidence), ...keys(evidence)]
}

function repeatedAfterMark({ events, transitions, resets }: Evidence): Violation[] {
  const forgottenMark = forgottenAt(events)
  const acquired = new Map<string, number>()
  for (const { id, from, to, newToken } of transitions) {
    if (from === 'waiting' && to === 'running') acquired.set(newToken ?? '', id)
  }
  const forgotten = new Set(resets.filter(({ forgot }) => forgot).map(({ table, taskId }) => taskKey(table, taskId)))
  const firstMark = new Map<string, { readonly token: string; readonly acquired: number }>()
  for (const event of events) {
    if (!isEvent(event, 'step_ended') || event.outcome !== 'acknowledged' || forgottenMark(event.at)) continue
    const key = `${taskKey(event.table, event.id)} ${event.step}`
    const mark = { token: event.token, acquired: acquired.get(event.token) ?? 0 }
    if (mark.acquired < (firstMark.get(key)?.acquired ?? Number.POSITIVE_INFINITY)) firstMark.set(key, mark)
  }
  return events
    .filter((event) => isEvent(event, 'outside_done'))
    .filter(({ table, id }) => !forgotten.has(taskKey(table, id)))
    .flatMap(({ table, id, step, token }) => {
      const mark = firstMark.get(`${taskKey(table, id)} ${step}`)
      if (mark === undefined || (acquired.get(token) ?? 0) <= mark.acquired) return []
      const message = `run ${token} did the step ${step} again, which run ${mark.token} had marked`
      return [{ check, message, task: { table, id } }]
    })
}

function keys({ events }: Evidence): Violation[] {
  const keyOf = new Map<string, string>()
  const ownerOf = new Map<string, string>()
  return events
    .filter((event) => isEvent(event, 'outside_done'))
    .flatMap(({ table, id, step, key }: HistoryEvent<'outside_done'>) => {
      const owner = `${taskKey(table, id)} ${step}`
      const same = (keyOf.get(owner) ?? key) === key
      const own = (ownerOf.get(key) ?? owner) === owner
      keyOf.set(owner, key)
      ownerOf.set(key, owner)
      if (same && own) return []
      return [
        {
          check,
          message: same ? `its key is also that of ${ownerOf.get(key)}` : 'its key has changed',
          task: { table, id },
        },
      ]
    })
}
