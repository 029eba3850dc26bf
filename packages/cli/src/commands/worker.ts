import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { chooseDatabase, type DatabaseOptions } from '../connection/choose-database.js'
import { runWorkers } from '../worker/run-workers.js'
import { modulesOf, type WorkerCommandOptions, withWorkerOptions } from '../worker/worker-options.js'

/** `pg-tasks worker` */
export function workerCommand(): Command {
  const command = withWorkerOptions(
    new Command('worker')
      .summary('Run the tasks that modules export.')
      .description(
        'Run the tasks that modules export, in one process or several, until SIGTERM or Ctrl-C. A process that ends by itself is ' +
          'started again. TypeScript is run by tsx, if your project has it, or by Node itself.',
      )
      .argument(
        '[modules...]',
        'JavaScript or TypeScript modules that export Task instances (default: "tasks" of the config file)',
      ),
  ).action(async (named: string[], options: WorkerCommandOptions & DatabaseOptions) => {
    const { url, config } = await chooseDatabase(options)
    await runWorkers({ modules: modulesOf('worker', named, config), databaseUrl: url, config, options })
  })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks worker src/tasks.ts --concurrency 4',
    'pg-tasks worker dist/tasks.js --processes 4 -c 8 -c send_invoice=2',
    'pg-tasks worker src/tasks.ts --watch --verbose',
  ]).addHelpText(
    'after',
    `
What a module may export besides tasks:
  configure(worker)   called before the worker runs: schedules, event listeners
  close()             called when it has stopped: pools of the module's own
DATABASE_URL is set for it in any case.`,
  )
}
