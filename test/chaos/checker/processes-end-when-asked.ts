import { type HistoryEvent, isEvent } from '../history.js'
import type { Evidence, Violation } from './evidence.js'

/** No process ends by itself, and whoever is asked to stop does so, in order and in time. */
export function processesEndWhenAsked({ events }: Evidence): Violation[] {
  return events
    .filter((event) => isEvent(event, 'process_ended'))
    .flatMap((event) => {
      const problem = problemOf(event)
      if (problem === undefined) return []
      const message = `${event.name} ${problem}: ${event.lastWords.join('\n    ')}`
      return [{ check: 'processes end when asked', message, at: event.at }]
    })
}

function problemOf({ code, signal, wanted, overdue }: HistoryEvent<'process_ended'>): string | undefined {
  if (!wanted) return `ended by itself (code ${code}, signal ${signal})`
  if (overdue) return 'did not stop'
  return code !== null && code !== 0 ? `ended with code ${code}` : undefined
}
