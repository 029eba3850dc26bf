import { type HistoryEvent, isEvent } from '../history.js'
import { type Evidence, type LedgerState, type Transition, taskKey, type Violation } from './evidence.js'
import { forgottenAt } from './forgotten.js'

const check = 'what was acknowledged stays'

/** What workers and operators were told is in the ledger. */
export function acknowledgedStays(evidence: Evidence): Violation[] {
  return [...workers(evidence), ...operators(evidence)]
}

const TOLD: Readonly<Record<string, readonly (LedgerState | null)[]>> = {
  finished: ['finished', null],
  failed: ['failed'],
  canceled: ['canceled'],
  retried: ['waiting', 'failed', 'canceled'],
}

function workers({ events, byTask, types }: Evidence): Violation[] {
  const forgotten = forgottenAt(events)
  const deletes = new Set(types.filter(({ register }) => register.storageTime === '0').map(({ table }) => table))
  return events
    .filter((event) => isEvent(event, 'worker_event'))
    .filter(({ name, id, at }) => name in TOLD && id !== undefined && !forgotten(at))
    .filter((event) => !matching(byTask.get(taskKey(event.table ?? '', event.id ?? '')) ?? [], event, deletes))
    .map(({ name, table = '', id = '', attempt, process }) => ({
      check,
      message: `${process} said "${name}" of attempt ${attempt}, and no such change is there`,
      task: { table, id },
    }))
}

function matching(
  life: readonly Transition[],
  { name, table = '', workerId, attempt }: HistoryEvent<'worker_event'>,
  deletes: ReadonlySet<string>,
): boolean {
  const told = TOLD[name] ?? []
  return life.some(
    ({ from, to, worker, attempt: made }) =>
      from === 'running' &&
      told.includes(to) &&
      // Where a finish deletes, nobody can tell afterwards whose it was: gone counts as finished.
      ((worker === workerId && made === attempt) || (to === null && deletes.has(table))),
  )
}

function operators({ events, byTask, resets }: Evidence): Violation[] {
  const forgotten = forgottenAt(events)
  const unfinished = ['scheduled', 'ready', 'running']
  return events
    .filter((event) => isEvent(event, 'operator_ended'))
    .filter(({ outcome, at }) => outcome === 'acknowledged' && !forgotten(at))
    .flatMap(({ verb, table, id, found }) => {
      const life = byTask.get(taskKey(table, id)) ?? []
      if (verb === 'cancel' && unfinished.includes(String(found)) && !life.some(({ to }) => to === 'canceled')) {
        return [
          { check, message: `an operator canceled it (${found}), and it was never canceled`, task: { table, id } },
        ]
      }
      const isReset = verb === 'reset' || verb === 'reset_and_forget'
      if (isReset && !resets.some((reset) => reset.table === table && reset.taskId === id)) {
        return [{ check, message: `an operator reset it (${found}), and it was never reset`, task: { table, id } }]
      }
      return []
    })
}
