import type { LogFields, TaskReference, Worker } from '@pg-tasks/client'
import type { LogLevel } from './child-messages.js'

type Log = (level: LogLevel, message: string, fields?: LogFields) => void

/** Tells what a worker does: outcomes that somebody should see as info or worse, those that went well as debug. */
export function tellEvents(worker: Worker, log: Log): void {
  worker.on('listening', () => log('debug', 'notifications arrive'))
  worker.on('not_listening', (reason) => log('warn', `notifications do not arrive: ${reason.message}`))
  worker.on('started', (task) => log('debug', 'started', about(task)))
  worker.on('finished', (task) => log('debug', 'finished', { ...about(task), durationMs: Math.round(task.durationMs) }))
  worker.on('retried', (task) =>
    log('warn', `attempt ${task.attempt} did not succeed, runs again`, { ...about(task), error: textOf(task.error) }),
  )
  worker.on('failed', (task) =>
    log('error', `failed for good after attempt ${task.attempt}`, { ...about(task), error: textOf(task.error) }),
  )
  worker.on('canceled', (task) => log('info', 'canceled itself', about(task)))
  worker.on('lost', (task) => log('warn', `the run lost its task (${task.reason})`, about(task)))
  worker.on('overrun', (task) => log('warn', 'the handler has not ended after its signal was aborted', about(task)))
  worker.on('rescued', ({ schema, table, count }) =>
    log('info', `brought ${count} tasks of dead workers back`, { type: `${schema}.${table}` }),
  )
  worker.on('scheduled', ({ key, enqueued }) => log('debug', `schedule ${key}: ${enqueued} enqueued`))
  worker.on('schedule_refused', ({ key, error }) => log('error', `schedule ${key} was set aside: ${error}`))
  worker.on('cleaned', ({ what, deleted, kept, reason }) => {
    log(
      reason === null ? 'debug' : 'warn',
      `deleted ${deleted} of ${what}${reason === null ? '' : `, kept ${kept}: ${reason}`}`,
    )
  })
  worker.on('error', (error) => log('error', textOf(error)))
  worker.on('stopping', () => log('info', 'stopping'))
}

function about({ schema, table, id, attempt }: TaskReference): LogFields {
  return { type: `${schema}.${table}`, task: id, attempt }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
