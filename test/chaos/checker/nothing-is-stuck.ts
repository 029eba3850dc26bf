import { isEvent } from '../history.js'
import { LEASE_MS, POLL_MS } from '../load/task-types.js'
import type { Evidence, Transition, Violation } from './evidence.js'

const check = 'nothing is stuck'

/** After a worker's end: its lease, a rescue, a poll, and what the machine and other faults may add. */
const LONGEST_MS = LEASE_MS * 1.25 + POLL_MS + 30_000

/** Everything ends after the last fault; and what a dead worker ran comes back soon, whatever else is broken. */
export function nothingIsStuck(evidence: Evidence): Violation[] {
  return [...unfinished(evidence), ...stranded(evidence)]
}

function unfinished({ remains }: Evidence): Violation[] {
  return remains.unfinished.map(({ table, id, state }) => ({
    check,
    message: `${state} although nothing is broken any more and nothing moves`,
    task: { table, id },
  }))
}

function stranded(evidence: Evidence): Violation[] {
  return comebacks(evidence)
    .filter(({ afterMs }) => afterMs > LONGEST_MS)
    .map(({ run: { table, taskId, worker }, afterMs }) => {
      const message = `it came back ${Math.round(afterMs)} ms after the end of its worker ${worker}`
      return { check, message, task: { table, id: taskId } }
    })
}

/** The runs whose worker's process ended under them, and how long after its end the task was free again. */
export function comebacks({ events, byTask }: Evidence): Array<{ readonly run: Transition; readonly afterMs: number }> {
  const deaths = deathsOf(events)
  return [...byTask.values()].flatMap((life) =>
    life.flatMap((run, index) => {
      const death = run.to === 'running' ? deaths.get(run.worker ?? '') : undefined
      const next = life[index + 1]
      if (death === undefined || next === undefined || next.at < death) return []
      return [{ run, afterMs: next.at - Math.max(death, run.at) }]
    }),
  )
}

/** When each worker's process ended. */
function deathsOf(events: Evidence['events']): Map<string, number> {
  const workers = new Map<string, string>()
  const deaths = new Map<string, number>()
  for (const event of events) {
    if (isEvent(event, 'worker_started')) workers.set(event.process, event.workerId)
    const worker = isEvent(event, 'process_ended') ? workers.get(event.name) : undefined
    if (worker !== undefined) deaths.set(worker, event.at)
  }
  return deaths
}
