import type { LogFields, TaskReference, Worker } from '@pg-tasks/client'
import type { LogLevel } from './child-messages.js'

type Log = (level: LogLevel, message: string, fields?: LogFields) => void

/** Tells what a worker does and its own log lines don't: what went well. */
export function tellEvents(worker: Worker, log: Log): void {
  worker.on('listening', () => log('debug', 'notifications arrive'))
  worker.on('started', (task) => log('debug', 'started', about(task)))
  worker.on('finished', (task) => log('debug', 'finished', { ...about(task), durationMs: Math.round(task.durationMs) }))
  worker.on('canceled', (task) => log('info', 'canceled itself', about(task)))
  worker.on('scheduled', ({ key, enqueued }) => log('debug', `schedule ${key}: ${enqueued} enqueued`))
  worker.on('cleaned', ({ what, deleted }) => log('debug', `deleted ${deleted} of ${what}`))
  worker.on('stopping', () => log('info', 'stopping'))
  worker.on('stopped', () => log('info', 'stopped'))
}

function about({ schema, table, id, attempt }: TaskReference): LogFields {
  return { schema, table, id, attempt }
}
