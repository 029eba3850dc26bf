import {
  type Claimed,
  type LogFields,
  Task,
  type TaskContext,
  type TaskOptions,
  Worker,
  type WorkerEvents,
  type WorkerOptions,
} from '@pg-tasks/client'
import type { Pool } from 'pg'
import { afterEach } from 'vitest'
import { waitFor, within } from '../../support/wait-for.js'

type Columns = Record<string, unknown>

/** What a handler of a test is given. */
export type Handler<Own extends object> = (task: Claimed<Own>, context: TaskContext, self: Task<Own>) => unknown

/** A Task made of a function; what the function returns or throws is the handler's, even before it gives a promise. */
export function taskOf<Own extends object = Columns>(
  table: string,
  handler: Handler<Own> = () => {},
  options: TaskOptions = {},
): Task<Own> {
  class TestTask extends Task<Own> {
    override run(task: Claimed<Own>, context: TaskContext): Promise<unknown> {
      return handler(task, context, this) as Promise<unknown>
    }
  }
  return new TestTask({ table, ...options })
}

export interface RecordedEvent {
  readonly name: keyof WorkerEvents
  // biome-ignore lint/suspicious/noExplicitAny: the arguments are as different as the events
  readonly args: readonly any[]
}

export interface RecordedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: LogFields
  readonly message: string
}

export interface SeenOptions {
  /** @defaultValue 15_000 */
  readonly timeoutMs?: number
  /** @defaultValue 1 */
  readonly count?: number
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly where?: (first: any) => boolean
}

const EVENTS: ReadonlyArray<keyof WorkerEvents> = [
  'ready',
  'listening',
  'not_listening',
  'acquired',
  'started',
  'finished',
  'retried',
  'failed',
  'canceled',
  'released',
  'lost',
  'overrun',
  'rescued',
  'error',
  'stopping',
  'stopped',
]

/** A worker and all that it has told. */
export class RecordedWorker {
  readonly worker: Worker
  readonly events: RecordedEvent[] = []
  readonly lines: RecordedLine[] = []
  /** The result of `run()`; rejects as it does. */
  running: Promise<void> = Promise.resolve()

  constructor(options: WorkerOptions) {
    const write = (level: RecordedLine['level']) => (fields: LogFields, message: string) => {
      this.lines.push({ level, fields, message })
    }
    this.worker = new Worker({
      handleSignals: false,
      pollIntervalMs: 60_000,
      logger: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
      ...options,
    })
    for (const name of EVENTS) {
      this.worker.on(name, (...args: unknown[]) => {
        this.events.push({ name, args })
      })
    }
  }

  /** First arguments of all events of that name so far. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  of(name: keyof WorkerEvents): any[] {
    return this.events.filter((event) => event.name === name).map((event) => event.args[0])
  }

  /** Waits until there have been `count` such events since the start; returns their first arguments. */
  async seen(
    name: keyof WorkerEvents,
    { count = 1, where = () => true, timeoutMs = 15_000 }: SeenOptions = {},
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ): Promise<any[]> {
    try {
      return await waitFor(
        () => {
          const found = this.of(name).filter(where)
          return found.length >= count ? found : undefined
        },
        { timeoutMs },
      )
    } catch {
      const events = this.events.map((event) => event.name).slice(-50)
      throw new Error(`Waited ${timeoutMs} ms in vain for ${count} × ${name}. There were: ${events.join(' ')}`)
    }
  }

  /** Ids of the tasks of such events, in their order. */
  ids(name: keyof WorkerEvents): string[] {
    return this.of(name).map((event) => event.id as string)
  }
}

const started = new Set<RecordedWorker>()

/** A worker that is not running yet; it is stopped after the test. */
export function newWorker(
  options: WorkerOptions,
  ...tasks: ReadonlyArray<readonly [Task<object>, number]>
): RecordedWorker {
  const recorded = new RecordedWorker(options)
  for (const [task, concurrency] of tasks) recorded.worker.add(task, concurrency)
  started.add(recorded)
  return recorded
}

/** A worker that is ready; it is stopped after the test. */
export async function startWorker(
  options: WorkerOptions,
  ...tasks: ReadonlyArray<readonly [Task<object>, number]>
): Promise<RecordedWorker> {
  const recorded = newWorker(options, ...tasks)
  recorded.running = recorded.worker.run()
  await within(Promise.race([recorded.running, recorded.seen('ready', { timeoutMs: 20_000 })]), { timeoutMs: 20_000 })
  return recorded
}

/** Waits until so many workers sleep: they have looked for the last time, and only something due or a notification wakes them. */
export async function workersAsleep(pool: Pool, table: string, count = 1): Promise<void> {
  await waitFor(
    async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and state = 'idle' and query like $1`,
        [`%"next_due_tasks_${table}"%`],
      )
      return rows.length === count
    },
    { timeoutMs: 15_000, what: `${count} worker(s) of ${table} to sleep` },
  )
}

/** Handlers wait on it until the test lets them go on. */
export class Latch {
  readonly opened: Promise<void>
  open: () => void = () => {}

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve
    })
  }
}

/** Resolves when the signal is aborted, with its reason. */
export function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
}

afterEach(async () => {
  const workers = [...started]
  started.clear()
  await Promise.all(
    workers.map(({ worker }) =>
      within(worker.stop({ timeoutMs: 0 }), { timeoutMs: 15_000, what: 'stop() after the test' }),
    ),
  )
})
