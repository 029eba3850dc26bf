import { Command } from 'commander'
import { withExamples } from '../arguments/add-options.js'
import {
  chooseDatabase,
  type DatabaseOptions,
  DEFAULT_DIRECTORY,
  embeddedDirectory,
} from '../connection/choose-database.js'
import { readConfigFile } from '../connection/config-file.js'
import { Output } from '../output/output.js'

/** The options of the commands that are about the embedded server itself. */
export interface ServerOptions {
  readonly embedded?: string
  readonly config?: string
  readonly json?: boolean
}

/** Adds them. */
export function withServerOptions(command: Command): Command {
  return command
    .option('--embedded [directory]', `directory of the embedded PostgreSQL (default: ${DEFAULT_DIRECTORY})`)
    .option('--config <file>', 'config file (default: pg-tasks.config.json, .js or .mjs in this folder)')
    .option('--json', 'print JSON')
}

/** The directory that is meant. */
export async function serverDirectory(options: ServerOptions): Promise<string> {
  const { embedded } = await readConfigFile(options.config)
  if (options.embedded !== undefined && options.embedded !== '') return options.embedded
  return typeof embedded === 'string' ? embedded : DEFAULT_DIRECTORY
}

/** The options as they are, if they name a database; else the usual embedded one. */
export async function orEmbedded<Options extends DatabaseOptions>(options: Options): Promise<Options> {
  const config = await readConfigFile(options.config)
  const elsewhere = options.databaseUrl ?? process.env.DATABASE_URL ?? config.databaseUrl
  if (elsewhere !== undefined || embeddedDirectory(options, config) !== undefined) return options
  return { ...options, embedded: '' }
}

/** `pg-tasks dev url` */
export function devUrlCommand(): Command {
  const command = new Command('url')
    .description('Print the connection string of the embedded server, with its password; starts it if it does not run.')
    .action(async (options: ServerOptions) => {
      const { url } = await chooseDatabase({ ...options, embedded: await serverDirectory(options) })
      new Output(options).answer({ url }, () => `${url}\n`)
    })
  return withExamples(withServerOptions(command), ['psql "$(pg-tasks dev url)"'])
}

/** `pg-tasks dev stop` */
export function devStopCommand(): Command {
  const command = new Command('stop')
    .description('Stop the embedded server, for all that use it.')
    .action(async (options: ServerOptions) => {
      const directory = await serverDirectory(options)
      const { stop } = await import('@pg-tasks/embedded')
      const stopped = await stop(directory)
      new Output(options).answer({ directory, stopped }, () => {
        return stopped ? `The server in ${directory} has stopped.\n` : `No server runs in ${directory}.\n`
      })
    })
  return withExamples(withServerOptions(command), ['pg-tasks dev stop'])
}
