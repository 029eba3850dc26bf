import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { cancelCommand } from './commands/cancel.js'
import { cleanCommand } from './commands/clean.js'
import { dashboardCommand } from './commands/dashboard.js'
import { devCommand } from './commands/dev.js'
import { doctorCommand } from './commands/doctor.js'
import { enqueueCommand } from './commands/enqueue.js'
import { initCommand } from './commands/init.js'
import { listCommand } from './commands/list.js'
import { migrateCommand } from './commands/migrate.js'
import { pauseCommand, resumeCommand } from './commands/pause.js'
import { registerCommand, unregisterCommand } from './commands/register.js'
import { resetCommand } from './commands/reset.js'
import { retryCommand } from './commands/retry.js'
import { schedulesCommand } from './commands/schedules.js'
import { showCommand } from './commands/show.js'
import { statsCommand } from './commands/stats.js'
import { typesCommand } from './commands/types.js'
import { workerCommand } from './commands/worker.js'
import { EXIT_CODES } from './exit-codes.js'

/** The commands under their headings in the help, in the order in which somebody needs them. */
const GROUPS: ReadonlyArray<readonly [string, ReadonlyArray<() => Command>]> = [
  ['Begin:', [initCommand, devCommand, migrateCommand, registerCommand, unregisterCommand, typesCommand]],
  ['Run:', [workerCommand, dashboardCommand, pauseCommand, resumeCommand]],
  ['Tasks:', [enqueueCommand, listCommand, showCommand, retryCommand, cancelCommand, resetCommand, cleanCommand]],
  ['Schedules:', [schedulesCommand]],
  ['Look:', [statsCommand, doctorCommand]],
]

/** The whole command line. It throws instead of ending the process. */
export function program(): Command {
  const root = new Command('pg-tasks')
    .description('A task queue in your own PostgreSQL.')
    .version(version(), '-V, --version')
    .helpCommand('help [command]', 'help for a command')
  for (const [heading, commands] of GROUPS) {
    root.commandsGroup(heading)
    for (const command of commands) root.addCommand(command().helpGroup(heading))
  }
  root.addHelpText(
    'after',
    `
The database is that of --database-url, of DATABASE_URL or of pg-tasks.config.json; --embedded starts one of your own.
With --json every command prints JSON. NO_COLOR turns colours off.

Exit codes:
${Object.values(EXIT_CODES)
  .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
  .join('\n')}

Examples:
  $ pg-tasks init
  $ pg-tasks worker src/tasks.ts --concurrency 4
  $ pg-tasks doctor`,
  )
  for (const command of allCommands(root)) {
    // Else an option of `types` would be taken from `types generate`.
    command
      .enablePositionalOptions()
      .exitOverride()
      .showHelpAfterError('(add --help for more)')
      .allowExcessArguments(false)
    command.configureHelp({ showGlobalOptions: false })
  }
  return root
}

/** A command and all below it. */
export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}

function version(): string {
  const file = join(import.meta.dirname, '..', 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
