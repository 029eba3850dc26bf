import type { Evidence, Violation } from './checker/evidence.js'
import { watchedHeap } from './checker/heap-stays-flat.js'
import { comebacks } from './checker/nothing-is-stuck.js'
import { momentHistory, taskHistory } from './checker/task-history.js'
import type { FaultKind } from './faults/fault.js'
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
    `first acquire after a restart: ${recoveries(evidence, 'crash_server')}; after the end of a primary: ${recoveries(evidence, 'fail_over')}`,
    `tasks of ended workers came back after ${spread(comebacks(evidence).map(({ afterMs }) => afterMs))}`,
    `operators: ${tally(events.filter((event) => isEvent(event, 'operator_ended')).map(({ verb, outcome }) => `${verb} ${outcome}`))}`,
    `drained after ${((drained?.afterMs ?? 0) / 1_000).toFixed(1)} s; heap of the watched worker: ${heap.length === 0 ? '–' : `${heap[0]} → ${heap.at(-1)} MB`}`,
  ]
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b).map((ms) => `${(ms / 1_000).toFixed(1)} s`)
  if (sorted.length === 0) return '–'
  return `${sorted[Math.floor(sorted.length / 2)]} (median of ${sorted.length}), at most ${sorted.at(-1)}`
}

/** From a server's restart, or from the end of a primary that was replaced, to the next task that was acquired. */
function recoveries({ events, transitions }: Evidence, kind: 'crash_server' | 'fail_over'): string {
  const acquired = transitions.filter(({ to }) => to === 'running').map(({ at }) => at)
  const skipped = new Set(
    events
      .filter((event) => isEvent(event, 'fault_ended'))
      .filter(({ outcome }) => outcome === 'skipped')
      .map(({ index }) => index),
  )
  let fault: FaultKind | undefined
  let ended = 0
  const took: string[] = []
  for (const event of events) {
    if (isEvent(event, 'fault_began')) {
      const { kind: begun } = event.fault
      if ((begun === 'crash_server' || begun === 'fail_over') && !skipped.has(event.index)) fault = begun
    } else if (isEvent(event, 'server_ended')) {
      ended = event.at
    } else if (isEvent(event, 'server_back') && fault === kind) {
      // The ledger's clock runs a little beside ours.
      const next = acquired.find((at) => at > event.at - SLACK_MS)
      const since = kind === 'crash_server' ? event.at : ended
      if (next !== undefined) took.push(`${(Math.max(0, next - since) / 1_000).toFixed(1)} s`)
    }
  }
  return took.length === 0 ? '–' : took.join(', ')
}

const SLACK_MS = 20

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
