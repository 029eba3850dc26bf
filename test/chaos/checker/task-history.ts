import type { Fault } from '../faults/fault.js'
import { type HistoryEvent, isEvent } from '../history.js'
import { type Evidence, type Transition, taskKey } from './evidence.js'

/** How far around a task's life faults are told. */
const AROUND_MS = 2_000

/** How much is told where no task is concerned. */
const WINDOW_MS = 10_000

interface Line {
  readonly at: number
  readonly text: string
}

/** Everything that is known of one task, in order, with the faults around. */
export function taskHistory(
  evidence: Evidence,
  { table, id }: { readonly table: string; readonly id: string },
): string[] {
  const life = evidence.byTask.get(taskKey(table, id)) ?? []
  const ref = life[0]?.ref
  const own = evidence.events.filter((event) => isAbout(event, table, id, ref))
  const lines = [...life.map(ofTransition), ...own.map(ofEvent)]
  const from = Math.min(...lines.map(({ at }) => at)) - AROUND_MS
  const to = Math.max(...lines.map(({ at }) => at)) + AROUND_MS
  return print(evidence, [...lines, ...surroundings(evidence, from, to)])
}

/** What happened around a moment. */
export function momentHistory(evidence: Evidence, at: number): string[] {
  return print(evidence, surroundings(evidence, at - WINDOW_MS, at + WINDOW_MS))
}

/** Faults that were going on, and processes that came and went. */
function surroundings({ events }: Evidence, from: number, to: number): Line[] {
  const ends = new Map(events.filter((event) => isEvent(event, 'fault_ended')).map((event) => [event.index, event]))
  return events.flatMap((event): Line[] => {
    if (isEvent(event, 'fault_began')) {
      const end = ends.get(event.index)
      if (event.at > to || (end?.at ?? to) < from || end?.outcome === 'skipped') return []
      const until = end === undefined ? '' : ` (${end.outcome} after ${Math.round(end.at - event.at)} ms)`
      return [{ at: event.at, text: `fault ${event.index}: ${describeFault(event.fault)}${until}` }]
    }
    if (event.at < from || event.at > to) return []
    return isEvent(event, 'process_started', 'process_ended', 'load_ended', 'drained') ? [ofEvent(event)] : []
  })
}

export function describeFault({ kind, ...drawn }: Fault): string {
  const details = Object.entries(drawn).map(([name, value]) => `${name} ${value}`)
  return [kind, ...details].join(', ')
}

function isAbout(event: HistoryEvent, table: string, id: string, ref: string | null | undefined): boolean {
  if ('id' in event && event.id === id && event.table === table) return true
  if ('refs' in event) return event.table === table && event.refs.includes(ref ?? '')
  if (!isEvent(event, 'worker_log')) return false
  const fields = event.fields as { readonly id?: string; readonly table?: string }
  return fields.id === id && fields.table === table
}

function ofTransition(change: Transition): Line {
  const { from, to, oldToken, newToken, worker, attempt, generation, lost, held, id } = change
  const token = oldToken === newToken ? short(newToken) : `${short(oldToken)} → ${short(newToken)}`
  const marks = [lost ? 'lost' : '', held ? 'held' : ''].filter((mark) => mark !== '').join(' ')
  const details = `attempt ${attempt}, generation ${generation}, token ${token}, worker ${short(worker)} ${marks}`
  return { at: change.at, text: `LEDGER ${id}: ${from ?? 'nothing'} → ${to ?? 'deleted'}: ${details}` }
}

function ofEvent({ process, number: _, at, event, ...fields }: HistoryEvent): Line {
  const { table: _table, id: _id, refs: _refs, lastWords: _lastWords, ...rest } = fields as Record<string, unknown>
  return { at, text: `${process}: ${event} ${JSON.stringify(rest)}` }
}

function short(uuid: string | null): string {
  return uuid?.slice(0, 8) ?? 'none'
}

function print({ events }: Evidence, lines: readonly Line[]): string[] {
  const start = events.find((event) => isEvent(event, 'chaos_started'))?.at ?? 0
  return lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => `${((at - start) / 1_000).toFixed(3).padStart(9)} s  ${text}`)
}
