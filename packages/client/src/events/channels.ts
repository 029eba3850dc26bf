import { channel, tracingChannel } from 'node:diagnostics_channel'

/** Columns of new tasks, as they were given. */
type GivenColumns = Readonly<Record<string, unknown>>

/** Message of the tracing channel `pg-tasks:enqueue`. */
export interface EnqueueMessage {
  readonly schema: string
  readonly table: string
  /** What is enqueued. A subscriber of `start` may put other columns in its place; that is how a trace context gets in. */
  tasks: readonly GivenColumns[]
  /** The ids, once they are there. */
  result?: unknown
  error?: unknown
}

/** Message of the tracing channel `pg-tasks:acquire`. */
export interface AcquireMessage {
  readonly workerId: string
  readonly schema: string
  readonly table: string
  readonly maxNum: number
  /** Whether the worker had slept: what was due meanwhile shows how late it was woken. */
  readonly slept: boolean
  /** The rows that were acquired, once they are there. */
  result?: unknown
  error?: unknown
}

/** Message of the tracing channel `pg-tasks:run`. */
export interface RunMessage {
  readonly workerId: string
  readonly schema: string
  readonly table: string
  readonly id: string
  readonly attempt: number
  result?: unknown
  error?: unknown
}

/** Message of the channels `pg-tasks:worker:<event>`. */
export interface WorkerMessage {
  readonly workerId: string
  readonly event: string
  /** The arguments of the event's listeners. */
  readonly args: readonly unknown[]
}

// Both type arguments alike: between major versions of @types/node they have changed places.
export const enqueueChannel = tracingChannel<EnqueueMessage, EnqueueMessage>('pg-tasks:enqueue')
export const acquireChannel = tracingChannel<AcquireMessage, AcquireMessage>('pg-tasks:acquire')
export const runChannel = tracingChannel<RunMessage, RunMessage>('pg-tasks:run')

/** The channel of a worker's event. */
export function workerChannel(event: string): ReturnType<typeof channel> {
  return channel(`pg-tasks:worker:${event}`)
}
