import { Worker, type WorkerEvents } from '@pg-tasks/client'
import { HistoryWriter } from '../history.js'
import { PrimaryPool } from '../load/primary-pool.js'
import { ChaosTask } from './chaos-task.js'
import { HandlerTools } from './handler-tools.js'
import { watchHeap } from './heap.js'
import { programOptions } from './program-options.js'
import { shiftClock } from './shift-clock.js'

const NOTED: ReadonlyArray<keyof WorkerEvents> = [
  'ready',
  'listening',
  'not_listening',
  'finished',
  'retried',
  'failed',
  'canceled',
  'released',
  'lost',
  'overrun',
  'rescued',
  'schedule_refused',
]

const { name, folder, urls, types, pollMs, clockShiftMs } = programOptions()
shiftClock(clockShiftMs)

const history = new HistoryWriter(folder, name)
const pool = new PrimaryPool(urls, `${name} handlers`, 16)
const log = (level: string) => (fields: object, message: string) =>
  history.write('worker_log', { level, message, fields })
const worker = new Worker({
  connectionString: urls,
  applicationName: name,
  pollIntervalMs: pollMs,
  stopTimeoutMs: 3_000,
  abortGraceMs: 1_000,
  maintenanceIntervalMs: 10_000,
  logger: { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') },
})
const tools = new HandlerTools(history, pool, worker.id)
for (const type of types) worker.add(new ChaosTask(type, tools), type.concurrency)
for (const event of NOTED) worker.on(event, (...args: readonly unknown[]) => note(event, args[0]))

function note(event: string, about: unknown): void {
  const { table, id, attempt, reason, count } = (about ?? {}) as Record<string, string | number | undefined>
  const detail = reason ?? count ?? (about instanceof Error ? about.message : undefined)
  const fields = { table, id, attempt, detail } as { table?: string; id?: string; attempt?: number; detail?: string }
  history.write('worker_event', { name: event, workerId: worker.id, ...fields })
}

worker.on('ready', () => console.log('ready'))
process.on('message', (message: { readonly blockMs: number }) => tools.askToBlock(message.blockMs))
process.channel?.unref()
const stopWatching = watchHeap(history)

history.write('worker_started', { workerId: worker.id, pid: process.pid, clockShiftMs })
await worker.run()
await pool.end()
history.write('worker_stopped', {})
stopWatching()
history.close()
