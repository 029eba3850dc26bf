import { isEvent } from '../history.js'
import { type Effect, type Evidence, type Transition, taskKey, type Violation } from './evidence.js'
import { forgottenAt } from './forgotten.js'

const check = 'effects are exactly once'

/** Kinds of tasks that are finished in no other way than together with their effect. */
const WITH_EFFECT = new Set([
  'effect',
  'repeat',
  'throw_before_commit',
  'throw_after_commit',
  'retry_itself',
  'steps',
  'deaf',
  'in_batch',
])

/** Of all transactions that finish a task, one commits its work: never two, never another run's, never a finish without it. */
export function effectsAreExactlyOnce(evidence: Evidence): Violation[] {
  return [...repeated(evidence), ...apart(evidence), ...withoutEffect(evidence), ...asTold(evidence)]
}

function repeated({ effects, resets }: Evidence): Violation[] {
  const counts = new Map<string, { effect: Effect; count: number }>()
  for (const effect of effects) {
    if (effect.what === 'retry') continue
    // The step's mark outlives a reset, so it is once for the task.
    const key = `${effect.what} ${taskKey(effect.table, effect.taskId)} ${effect.what === 'finish' ? effect.generation : ''}`
    const counted = counts.get(key)
    if (counted === undefined) counts.set(key, { effect, count: 1 })
    else counted.count += 1
  }
  const forgets = new Map<string, number>()
  for (const { table, taskId, forgot } of resets) {
    const key = taskKey(table, taskId)
    if (forgot) forgets.set(key, (forgets.get(key) ?? 0) + 1)
  }
  return [...counts.values()]
    .filter(({ effect, count }) => {
      const allowed = effect.what === 'step' ? 1 + (forgets.get(taskKey(effect.table, effect.taskId)) ?? 0) : 1
      return count > allowed
    })
    .map(({ effect, count }) =>
      violation(effect, `its ${effect.what} took effect ${count} times in generation ${effect.generation}`),
    )
}

/** An effect and the change of its task are one transaction, of the run that held the task. */
function apart({ effects, transitions }: Evidence): Violation[] {
  const changes = new Map<string, Transition>()
  for (const transition of transitions) {
    if (transition.from === 'running') changes.set(transactionKey(transition), transition)
  }
  return effects.flatMap((effect) => {
    const change = changes.get(transactionKey(effect))
    const expected = effect.what === 'retry' ? ['waiting', 'failed'] : ['finished', null]
    if (change === undefined || !expected.includes(change.to)) {
      return [violation(effect, `run ${effect.token} took effect (${effect.what}) without having changed the task`)]
    }
    if (change.oldToken !== effect.token) {
      return [violation(effect, `run ${effect.token} took effect although run ${change.oldToken} held the task`)]
    }
    return []
  })
}

function withoutEffect({ effects, transitions }: Evidence): Violation[] {
  const present = new Set(effects.filter(({ what }) => what === 'finish').map(transactionKey))
  return transitions
    .filter(({ from, to, kind }) => from === 'running' && (to === 'finished' || to === null) && WITH_EFFECT.has(kind))
    .filter((transition) => !present.has(transactionKey(transition)))
    .map((transition) => violation(transition, `finished by run ${transition.oldToken} without its effect`))
}

/** What a handler was told is so. */
function asTold({ effects, events }: Evidence): Violation[] {
  const committed = new Set(effects.filter(({ what }) => what === 'finish').map(({ token }) => token))
  const forgotten = forgottenAt(events)
  /** Runs whose earlier try may have been committed. */
  const tried = new Set<string>()
  return events
    .filter((event) => isEvent(event, 'effect_ended'))
    .flatMap(({ table, id, token, outcome, error, at }) => {
      const triedBefore = tried.has(token)
      if (outcome !== 'refused') tried.add(token)
      if (outcome === 'acknowledged' && !committed.has(token) && !forgotten(at)) {
        return [
          { check, message: `run ${token} was told that it committed, and nothing is there`, task: { table, id } },
        ]
      }
      if (outcome === 'refused' && committed.has(token) && !triedBefore) {
        return [{ check, message: `run ${token} was refused (${error}), and its effect is there`, task: { table, id } }]
      }
      return []
    })
}

function transactionKey({ xid, table, taskId }: Pick<Transition, 'xid' | 'table' | 'taskId'>): string {
  return `${xid} ${taskKey(table, taskId)}`
}

function violation({ table, taskId }: Pick<Effect, 'table' | 'taskId'>, message: string): Violation {
  return { check, message, task: { table, id: taskId } }
}
