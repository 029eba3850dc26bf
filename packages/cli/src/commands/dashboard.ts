import { once } from 'node:events'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseInteger } from '../arguments/parse-arguments.js'
import { chooseDatabase, type DatabaseOptions } from '../connection/choose-database.js'
import { openDashboard } from '../dashboard/open-dashboard.js'
import { Output } from '../output/output.js'

interface DashboardOptions extends DatabaseOptions {
  readonly port: number
  readonly host: string
}

/** `pg-tasks dashboard` */
export function dashboardCommand(): Command {
  const command = new Command('dashboard')
    .description('Serve the dashboard (package @pg-tasks/dashboard) until Ctrl-C.')
    .option('--port <number>', 'port; 0: any that is free', parseInteger(0, 65_535), 3100)
    .option('--host <name>', 'address to listen on', '127.0.0.1')
    .action(async (options: DashboardOptions) => {
      const { url: connectionString } = await chooseDatabase(options)
      const { port, host } = options
      const dashboard = await openDashboard({ connectionString, port, host })
      new Output(options).line({ url: dashboard.url }, () => `The dashboard is at ${dashboard.url} (Ctrl-C ends it)\n`)
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
      await dashboard.close()
    })
  return withExamples(withDatabaseOptions(command), ['pg-tasks dashboard', 'pg-tasks dashboard --embedded --port 8080'])
}
