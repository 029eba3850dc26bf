import { CliError } from '../cli-error.js'
import type { ConfigFile } from '../connection/config-file.js'
import { EXIT_CODES } from '../exit-codes.js'
import { say } from '../output/output.js'
import { logLine } from './log-line.js'
import { Supervisor } from './supervisor.js'
import { typescriptOptions } from './typescript-options.js'
import { watchFiles } from './watch-files.js'
import { childSettings, type WorkerCommandOptions } from './worker-options.js'

/** How workers are run, besides their own options. */
export interface RunWorkers {
  readonly modules: readonly string[]
  readonly databaseUrl: string
  readonly config: ConfigFile
  readonly options: WorkerCommandOptions & { readonly json?: boolean }
}

/** Within this, a second signal is the first one once more, which npm or a shell has passed on; in milliseconds. */
const SAME_SIGNAL_MS = 500

/** Runs the workers until SIGTERM or SIGINT; a second signal ends them at once. */
export async function runWorkers({ modules, databaseUrl, config, options }: RunWorkers): Promise<void> {
  const supervisor = new Supervisor({
    processes: options.processes ?? config.processes ?? 1,
    settings: childSettings(modules, options, config),
    execArgv: typescriptOptions(modules),
    databaseUrl,
    patient: options.watch === true,
    log: (level, message, fields) => logLine(options.json === true, level, message, fields),
  })
  let stoppedAt: number | undefined
  let killed = false
  const onSignal = (): void => {
    if (stoppedAt !== undefined) {
      if (performance.now() - stoppedAt < SAME_SIGNAL_MS) return
      killed = true
      supervisor.kill()
      return
    }
    stoppedAt = performance.now()
    if (process.stderr.isTTY) say('Running tasks may end; once more ends them at once.')
    supervisor.stop()
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  const unwatch =
    options.watch === true
      ? watchFiles(modules, (file) => {
          logLine(options.json === true, 'info', `${file} has changed, starting anew`, {})
          supervisor.restart()
        })
      : () => {}
  try {
    await supervisor.run()
  } finally {
    unwatch()
    // After a kill a third one must not get ahead of the exit code.
    if (!killed) {
      process.off('SIGTERM', onSignal)
      process.off('SIGINT', onSignal)
    }
  }
  if (killed)
    throw new CliError('Ended at once; the tasks that ran come back when their lease is over.', {
      exitCode: EXIT_CODES.ABORTED.code,
    })
}
