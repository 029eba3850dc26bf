import { isEvent } from '../history.js'
import type { Evidence, Transition, Violation } from './evidence.js'

/** How long a due task may wait while nothing else of its type is taken and nothing is broken: less than a poll. */
const ON_TIME_MS = 7_000

/** How long a fault may be felt after its end: dead leases, connections that are given up, workers that start. */
const RECOVERY_MS = 10_000

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * No committed task sleeps unseen. A type that is busy may let tasks wait; one that takes nothing for seconds, although one of
 * its tasks is due, has missed it.
 */
export function tasksRunOnTime(evidence: Evidence): Violation[] {
  const calms = calmSpans(evidence)
  const taken = takenAt(evidence)
  const limited = new Set(
    evidence.types.filter(({ limit, serial }) => limit !== undefined || serial).map(({ table }) => table),
  )
  const violations: Violation[] = []
  for (const life of evidence.byTask.values()) {
    for (const [index, change] of life.entries()) {
      if (change.to !== 'waiting' || change.held || limited.has(change.table)) continue
      const late = lateness(change, life[index + 1], taken.get(change.table) ?? [], calms)
      if (late === undefined) continue
      const message = `due and not taken for ${Math.round(late.to - late.from)} ms, while nothing was broken and nothing else of its type was taken`
      violations.push({
        check: 'tasks run on time',
        message,
        task: { table: change.table, id: change.taskId },
        at: late.from,
      })
    }
  }
  return violations
}

/** The first stretch of the wait that is too long. */
function lateness(
  waiting: Transition,
  next: Transition | undefined,
  taken: readonly number[],
  calms: readonly Span[],
): Span | undefined {
  const from = Math.max(waiting.at, waiting.plannedTo)
  for (const calm of calms) {
    const span = { from: Math.max(from, calm.from), to: Math.min(next?.at ?? Number.POSITIVE_INFINITY, calm.to) }
    if (span.to - span.from < ON_TIME_MS) continue
    let last = span.from
    for (const at of [...taken.filter((one) => one > span.from && one < span.to), span.to]) {
      if (at - last >= ON_TIME_MS) return { from: last, to: at }
      last = at
    }
  }
  return undefined
}

function takenAt({ transitions }: Evidence): Map<string, number[]> {
  const taken = new Map<string, number[]>()
  for (const { from, to, table, at } of transitions) {
    if (from !== 'waiting' || to !== 'running') continue
    const times = taken.get(table)
    if (times === undefined) taken.set(table, [at])
    else times.push(at)
  }
  return taken
}

/** When no fault was, nor was felt, from the start to the end of the drain. */
function calmSpans({ events }: Evidence): Span[] {
  const start = events.find((event) => isEvent(event, 'chaos_started'))?.at ?? 0
  const end = events.findLast((event) => isEvent(event, 'drained', 'load_ended'))?.at ?? start
  const endOf = new Map(events.filter((event) => isEvent(event, 'fault_ended')).map(({ index, at }) => [index, at]))
  const broken = events
    .filter((event) => isEvent(event, 'fault_began'))
    // An old snapshot makes nothing slower: that too is promised.
    .filter(({ fault }) => fault.kind !== 'pin_snapshot')
    .map(({ index, at }) => ({ from: at, to: (endOf.get(index) ?? end) + RECOVERY_MS }))
    .sort((a, b) => a.from - b.from)
  const calms: Span[] = []
  let from = start
  for (const fault of broken) {
    if (fault.from > from) calms.push({ from, to: fault.from })
    from = Math.max(from, fault.to)
  }
  if (end > from) calms.push({ from, to: end })
  return calms
}
