import type { Evidence, Violation } from './checker/evidence.js'
import { watchedHeap } from './checker/heap-stays-flat.js'
import { momentHistory, taskHistory } from './checker/task-history.js'
import { isEvent } from './history.js'

/** What was done, in numbers. */
export function counts(evidence: Evidence): string[] {
  const { events, transitions, effects, resets, occurrences } = evidence
  const tally = (values: readonly string[]): string => {
    const counted = new Map<string, number>()
    for (const value of values) counted.set(value, (counted.get(value) ?? 0) + 1)
    return [...counted].map(([value, count]) => `${value} ${count}`).join(', ')
  }
  const faults = new Map(
    events.filter((event) => isEvent(event, 'fault_began')).map(({ index, fault }) => [index, fault.kind]),
  )
  const ended = events.filter((event) => isEvent(event, 'fault_ended'))
  const done = ended.filter(({ outcome }) => outcome === 'done').map(({ index }) => faults.get(index) ?? '')
  const entered = (from: string | null, to: string | null) =>
    transitions.filter((change) => change.from === from && change.to === to).length
  const drained = events.find((event) => isEvent(event, 'drained'))
  const outside = events.filter((event) => isEvent(event, 'outside_done'))
  const steps = new Set(outside.map(({ table, id }) => `${table} ${id}`))
  const heap = watchedHeap(events)
  return [
    `faults: ${done.length} done (${tally(done)}), ${ended.length - done.length} skipped`,
    `enqueues: ${tally(events.filter((event) => isEvent(event, 'enqueue_ended')).map(({ outcome }) => outcome))}`,
    `tasks: ${entered(null, 'waiting')} of which ${occurrences.length} by schedules; changes: ${transitions.length}`,
    `runs acquired: ${entered('waiting', 'running')}, started: ${events.filter((event) => isEvent(event, 'run_started')).length}, lost: ${transitions.filter(({ lost }) => lost).length}`,
    `ends: finished ${entered('running', 'finished') + entered('running', null)}, failed ${entered('running', 'failed')}, canceled ${entered('running', 'canceled') + entered('waiting', 'canceled')}; resets: ${resets.length}`,
    `effects: ${tally(effects.map(({ what }) => what))}; told: ${tally(events.filter((event) => isEvent(event, 'effect_ended')).map(({ outcome }) => outcome))}`,
    `outside steps: ${steps.size}, repeated through the gap: ${outside.length - steps.size}`,
    `first run after a crash: ${recoveries(evidence, 'crash_server')}; after a failover: ${recoveries(evidence, 'fail_over')}`,
    `operators: ${tally(events.filter((event) => isEvent(event, 'operator_ended')).map(({ verb, outcome }) => `${verb} ${outcome}`))}`,
    `drained after ${((drained?.afterMs ?? 0) / 1_000).toFixed(1)} s; heap of the watched worker: ${heap.length === 0 ? '–' : `${heap[0]} → ${heap.at(-1)} MB`}`,
  ]
}

/** What was under way when the server ended may be written down a moment later. */
const JITTER_MS = 50

/** From the restart of a server, or the end of a primary, to the first task that was acquired. */
function recoveries({ events, transitions }: Evidence, kind: 'crash_server' | 'fail_over'): string {
  const ends = new Map(events.filter((event) => isEvent(event, 'fault_ended')).map(({ index, at }) => [index, at]))
  const took = events
    .filter((event) => isEvent(event, 'fault_began'))
    .filter(({ fault, index }) => fault.kind === kind && ends.has(index))
    .map(({ fault, index, at }) => {
      const lost = fault.kind === 'fail_over' ? at + fault.forgetMs : (ends.get(index) ?? at)
      const first = transitions.find((change) => change.at > lost + JITTER_MS && change.to === 'running')
      return first === undefined ? undefined : first.at - lost
    })
    .filter((ms) => ms !== undefined)
  return took.length === 0 ? '–' : took.map((ms) => `${(ms / 1_000).toFixed(1)} s`).join(', ')
}

/** How many violations of one check are told. */
const TOLD = 3

/** The violations, and the whole history of the first task concerned. */
export function describeViolations(evidence: Evidence, violations: readonly Violation[]): string[] {
  const lines: string[] = []
  for (const check of new Set(violations.map((violation) => violation.check))) {
    const found = violations.filter((violation) => violation.check === check)
    lines.push(`VIOLATED ${found.length} ×: ${check}`)
    for (const { message, task } of found.slice(0, TOLD)) {
      lines.push(`  ${task === undefined ? '' : `task ${task.id} of ${task.table}: `}${message}`)
    }
    const [first] = found
    if (first?.task !== undefined) lines.push(...taskHistory(evidence, first.task).map((line) => `    ${line}`))
    else if (first?.at !== undefined) lines.push(...momentHistory(evidence, first.at).map((line) => `    ${line}`))
  }
  return lines
}
