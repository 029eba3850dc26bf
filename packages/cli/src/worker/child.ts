import type { LogFields, Worker } from '@pg-tasks/client'
import { startMetricsServer } from '@pg-tasks/client/metrics'
import { CliError } from '../cli-error.js'
import { surviveClosedPipes } from '../output/survive-closed-pipes.js'
import type { ChildMessage, ChildSettings, LogLevel, ParentMessage } from './child-messages.js'
import { loadTasks } from './load-tasks.js'
import { tellEvents } from './tell-events.js'

/** One process of `pg-tasks worker`: runs the tasks of the modules until its parent says stop, or is gone. */
const settings = JSON.parse(process.argv[2] ?? '{}') as ChildSettings

function tell(message: ChildMessage): void {
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}

function log(level: LogLevel, message: string, fields: LogFields = {}): void {
  if (level === 'debug' && !settings.verbose) return
  tell({ event: 'log', level, message, fields })
}

// What handlers print may have lost its reader; their tasks go on.
surviveClosedPipes(() => {})

async function main(): Promise<void> {
  const { tasks, configure, close, Worker } = await loadTasks(settings.modules)
  const worker: Worker = new Worker({
    connectionString: process.env.DATABASE_URL as string,
    handleSignals: false,
    stopTimeoutMs: settings.stopTimeoutMs,
    logger: {
      debug: () => {},
      info: (fields, message) => log('debug', message, plain(fields)),
      warn: (fields, message) => log('warn', message, plain(fields)),
      error: (fields, message) => log('error', message, plain(fields)),
    },
  })
  const stop = (): void => void worker.stop()
  process.on('message', (message: ParentMessage) => {
    if (message.event === 'stop') stop()
  })
  process.on('disconnect', stop)
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  for (const task of tasks) worker.add(task, settings.concurrencies[task.options.table] ?? settings.concurrency)
  for (const one of configure) await one(worker)
  tellEvents(worker, log)
  worker.on('ready', () =>
    tell({ event: 'ready', types: tasks.map(({ options }) => `${options.schema}.${options.table}`) }),
  )
  const metrics = settings.metrics === undefined ? undefined : await startMetricsServer(worker, settings.metrics)
  if (metrics !== undefined) log('info', `metrics and health at ${metrics.url}`)
  await worker.run()
  await metrics?.close()
  for (const one of close) await one()
}

/** As JSON can carry it. */
function plain(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.message : value]),
  )
}

try {
  await main()
  // What a module has left open must not keep a process that is done.
  process.exit(0)
} catch (error) {
  const { message } = error as Error
  const hint = error instanceof CliError ? error.hint : (error as { hint?: string }).hint
  process.exitCode = 1
  process.send?.({ event: 'fatal', message, hint } satisfies ChildMessage, undefined, {}, () => process.exit(1))
}
