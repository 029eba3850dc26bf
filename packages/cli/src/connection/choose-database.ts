import type { EmbeddedPostgres } from '@pg-tasks/embedded'
import { UsageError } from '../cli-error.js'
import { say } from '../output/output.js'
import { type ConfigFile, readConfigFile } from './config-file.js'

/** Where the embedded server lives if nobody says otherwise. */
export const DEFAULT_DIRECTORY = '.data/postgres'

/** The options that every command with a database has. */
export interface DatabaseOptions {
  readonly databaseUrl?: string
  /** The directory; empty: the usual one. */
  readonly embedded?: string
  readonly config?: string
  readonly json?: boolean
}

/** A database that was chosen. */
export interface ChosenDatabase {
  readonly url: string
  readonly config: ConfigFile
  /** The embedded server, if it is one. */
  readonly embedded: EmbeddedPostgres | undefined
}

/**
 * Options first, then DATABASE_URL, then the config file; the embedded server is started, or attached to.
 *
 * @param stays - whether it goes on when the command ends, as people are told
 */
export async function chooseDatabase(
  options: DatabaseOptions,
  { stays = true }: { readonly stays?: boolean } = {},
): Promise<ChosenDatabase> {
  const config = await readConfigFile(options.config)
  if (options.databaseUrl !== undefined && options.embedded !== undefined) {
    throw new UsageError('--database-url and --embedded can not both be meant.')
  }
  const directory = embeddedDirectory(options, config)
  if (directory !== undefined) return startEmbedded(directory, config, stays)
  const url = options.databaseUrl ?? process.env.DATABASE_URL ?? config.databaseUrl
  if (url === undefined || url === '') {
    throw new UsageError(
      'Which database? Give --database-url, set DATABASE_URL, or write pg-tasks.config.json.',
      'Without a server: --embedded starts a PostgreSQL of your own in .data/postgres.',
    )
  }
  return { url: checkedUrl(url), config, embedded: undefined }
}

/** The directory of the embedded server if that is what is meant. */
export function embeddedDirectory(options: DatabaseOptions, config: ConfigFile): string | undefined {
  if (options.embedded !== undefined) return options.embedded === '' ? directoryOf(config) : options.embedded
  const elsewhere = options.databaseUrl ?? process.env.DATABASE_URL ?? config.databaseUrl
  const { embedded } = config
  return elsewhere !== undefined || embedded === undefined || embedded === false ? undefined : directoryOf(config)
}

function directoryOf({ embedded }: ConfigFile): string {
  return typeof embedded === 'string' ? embedded : DEFAULT_DIRECTORY
}

async function startEmbedded(directory: string, config: ConfigFile, stays: boolean): Promise<ChosenDatabase> {
  // Not at the top: whoever has a server needs none of its binaries.
  const { start } = await import('@pg-tasks/embedded')
  const server = await start(directory)
  if (!server.attached) say(`PostgreSQL runs in ${directory} now; ${stays ? '"pg-tasks dev stop"' : 'Ctrl-C'} ends it.`)
  return { url: server.url, config, embedded: server }
}

function checkedUrl(url: string): string {
  if (/^postgres(ql)?:\/\//.test(url)) return url
  throw new UsageError('The database URL must begin with postgres://', 'postgres://user:password@host:5432/database')
}
