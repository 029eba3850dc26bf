import { type Command, Option } from 'commander'
import { collect, parseInteger } from '../arguments/parse-arguments.js'
import { parseDuration } from '../arguments/parse-duration.js'
import { UsageError } from '../cli-error.js'
import type { ConfigFile } from '../connection/config-file.js'
import { checkModules } from './check-modules.js'
import type { ChildSettings } from './child-messages.js'

/** The options by which workers are started. */
export interface WorkerCommandOptions {
  readonly concurrency?: readonly string[]
  readonly processes?: number
  readonly watch?: boolean
  readonly verbose?: boolean
  readonly stopTimeout: number
  readonly metricsPort?: number
  readonly metricsHost: string
}

/** Adds them to a command. */
export function withWorkerOptions(command: Command): Command {
  return command
    .option(
      '-c, --concurrency <number>',
      'tasks of each type at a time in one process: 4; of one type: send_invoice=8; may be given several times (default: 1)',
      collect,
    )
    .option('-p, --processes <number>', 'processes (default: 1)', parseInteger(1, 256))
    .option('-w, --watch', 'restart when a file in the folders of the modules changes')
    .option('-v, --verbose', 'tell of every task that starts and finishes')
    .addOption(
      new Option('--stop-timeout <duration>', 'how long running tasks may go on after a stop')
        .argParser(parseDuration)
        .default(30_000, '30s'),
    )
    .option(
      '--metrics-port <port>',
      'serve /metrics (Prometheus), /live and /ready on this port; further processes take the next ports',
      parseInteger(1, 65_535),
    )
    .option('--metrics-host <address>', 'the address for it; 0.0.0.0: all', '127.0.0.1')
}

/** What each process is told. */
export function childSettings(
  modules: readonly string[],
  options: WorkerCommandOptions,
  config: ConfigFile,
): ChildSettings {
  let concurrency = config.concurrency ?? 1
  const concurrencies: Record<string, number> = {}
  for (const word of options.concurrency ?? []) {
    const [, table, number = ''] = /^(?:(.+)=)?(.+)$/.exec(word) ?? []
    const parsed = parseInteger(1, 10_000)(number)
    if (table === undefined) concurrency = parsed
    else concurrencies[table] = parsed
  }
  const { metricsPort: port, metricsHost: host, stopTimeout: stopTimeoutMs, verbose = false } = options
  const metrics = port === undefined ? undefined : { port, host }
  return { modules, concurrency, concurrencies, verbose, stopTimeoutMs, metrics }
}

/**
 * The modules that are named, else those of the config file.
 *
 * @throws UsageError if there are none, or one of them isn't there
 */
export function modulesOf(command: 'worker' | 'dev', named: readonly string[], config: ConfigFile): readonly string[] {
  const modules = named.length > 0 ? named : (config.tasks ?? [])
  if (modules.length === 0) {
    throw new UsageError(
      'Which tasks? Name a module that exports some, or "tasks" in the config file.',
      `pg-tasks ${command} src/tasks.ts; pg-tasks init writes a first one.`,
    )
  }
  checkModules(modules)
  return modules
}
