import { isEvent } from '../history.js'
import type { Evidence, Violation } from './evidence.js'

/** The program itself did what it set out to do: a server came back, a replica was promoted. */
export function faultsWork({ events }: Evidence): Violation[] {
  return events
    .filter((event) => isEvent(event, 'fault_ended'))
    .filter(({ outcome }) => outcome !== 'done' && outcome !== 'skipped')
    .map(({ index, outcome, at }) => ({ check: 'faults work', message: `fault ${index} ${outcome}`, at }))
}
