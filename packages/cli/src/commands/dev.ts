import { migrate } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { collect, parseInteger } from '../arguments/parse-arguments.js'
import { chooseDatabase, type DatabaseOptions } from '../connection/choose-database.js'
import { readConfigFile } from '../connection/config-file.js'
import { newClient } from '../connection/with-client.js'
import { INSTALL_DASHBOARD, openDashboardIfInstalled } from '../dashboard/open-dashboard.js'
import { runSqlFiles } from '../init/run-sql-files.js'
import { say } from '../output/output.js'
import { runWorkers } from '../worker/run-workers.js'
import { modulesOf, type WorkerCommandOptions, withWorkerOptions } from '../worker/worker-options.js'
import { devBackupCommand, devRestoreCommand, devUpgradeCommand } from './dev-backup.js'
import { devStopCommand, devUrlCommand, orEmbedded } from './dev-server.js'

interface DevOptions extends DatabaseOptions, WorkerCommandOptions {
  readonly sql?: readonly string[]
  readonly port: number
  readonly keep?: boolean
}

/** `pg-tasks dev` */
export function devCommand(): Command {
  const command = withWorkerOptions(
    new Command('dev')
      .summary('The embedded PostgreSQL, a worker and the dashboard at once, for development.')
      .description(
        'Everything for development at once: the embedded PostgreSQL with the schema applied, a worker, and the dashboard if it is installed. ' +
          'Ctrl-C ends all of it. With a database URL, that database instead of the embedded one.',
      )
      .argument('[modules...]', 'modules that export Task instances (default: "tasks" of the config file)')
      .option(
        '--sql <file>',
        'SQL file of your own to run first, written so that it can be run again; may be given several times',
        collect,
      )
      .option('--port <number>', 'port of the dashboard; 0: any that is free', parseInteger(0, 65_535), 3100)
      .option('--keep', 'leave the embedded server running'),
  ).action(dev)
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks dev tasks/say-hello.ts --sql tasks/say-hello.sql --watch',
    'pg-tasks dev backup backups/monday',
    'pg-tasks dev stop',
  ])
    .addCommand(devUrlCommand())
    .addCommand(devStopCommand())
    .addCommand(devBackupCommand())
    .addCommand(devRestoreCommand())
    .addCommand(devUpgradeCommand())
}

async function dev(named: string[], options: DevOptions): Promise<void> {
  const config = await readConfigFile(options.config)
  const modules = modulesOf('dev', named, config)
  const database = await chooseDatabase(await orEmbedded(options), { stays: options.keep === true })
  const { embedded, url } = database
  let dashboard: Awaited<ReturnType<typeof openDashboardIfInstalled>>
  try {
    const client = newClient(url)
    await client.connect()
    try {
      const { applied } = await migrate(client)
      if (applied.length > 0) say(`${applied.length} migrations are applied.`)
      await runSqlFiles(client, options.sql ?? [])
    } finally {
      await client.end()
    }
    dashboard = await openDashboardIfInstalled({ connectionString: url, port: options.port, host: '127.0.0.1' })
    say(dashboard === undefined ? `No dashboard: ${INSTALL_DASHBOARD}` : `Dashboard: ${dashboard.url}`)
    await runWorkers({ modules, databaseUrl: url, config, options })
  } finally {
    await dashboard?.close()
    if (embedded !== undefined && !embedded.attached && options.keep !== true) await embedded.stop()
  }
}
