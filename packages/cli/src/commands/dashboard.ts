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
  readonly user?: string
  readonly readOnly?: boolean
}

/** Not an option: what stands on a command line is seen by every user of the machine. */
const TOKEN_VARIABLE = 'PG_TASKS_DASHBOARD_TOKEN'

/** `pg-tasks dashboard` */
export function dashboardCommand(): Command {
  const command = new Command('dashboard')
    .description('Serve the dashboard (package @pg-tasks/dashboard) until Ctrl-C.')
    .option('--port <number>', 'port; 0: any that is free', parseInteger(0, 65_535), 3100)
    .option('--host <name>', "address to listen on; others than this machine's need a token", '127.0.0.1')
    .option('--user <name>', 'who signs in with the token, as the audit shows it (default: operator)')
    .option('--read-only', 'nobody may act')
    .action(async (options: DashboardOptions) => {
      const { url: connectionString } = await chooseDatabase(options)
      const { port, host, user, readOnly } = options
      const token = process.env[TOKEN_VARIABLE]
      const dashboard = await openDashboard({
        connectionString,
        port,
        host,
        ...(user === undefined ? {} : { user }),
        ...(token === undefined ? {} : { token }),
        ...(readOnly === undefined ? {} : { readOnly }),
      })
      new Output(options).line({ url: dashboard.url }, () => `The dashboard is at ${dashboard.url} (Ctrl-C ends it)\n`)
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
      await dashboard.close()
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks dashboard',
    'pg-tasks dashboard --embedded --port 8080',
    'pg-tasks dashboard --host 0.0.0.0 --user ann',
  ]).addHelpText('after', `\nThe token, at least 16 characters, is taken from the environment: ${TOKEN_VARIABLE}.`)
}
