import { chownSync, closeSync, openSync, readFileSync, statSync } from 'node:fs'
import type { Binaries } from './binaries.js'
import type { ClusterLayout } from './cluster-layout.js'
import { runCommand } from './run-command.js'
import type { ServerUser } from './server-user.js'

/**
 * - `started`: it is up
 * - `again`: another server is just starting or ending on this directory
 * - `port taken`
 * - `failed`: it will not start
 */
export interface LaunchResult {
  readonly outcome: 'started' | 'again' | 'port taken' | 'failed'
  /** What the server wrote to its log. */
  readonly log: string
}

export interface Launch {
  readonly layout: ClusterLayout
  readonly binaries: Binaries
  readonly user: ServerUser
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/** Another start won, or the last server's children haven't noticed its end yet. */
const AGAIN = /lock file "[^"]*" already exists|lock file "[^"]*" is empty|is still in use|bogus data in lock file/

/** Starts the server as a daemon that outlives this process, and waits until it accepts connections. */
export async function launchServer(launch: Launch): Promise<LaunchResult> {
  const { layout, binaries, user } = launch
  const logStart = prepareLog(layout, user)
  const seconds = Math.max(1, Math.ceil(launch.timeoutMs / 1_000))
  const { exitCode, output } = await runCommand(
    user,
    binaries.pgCtl,
    ['-D', layout.data, '-l', layout.log, '-w', '-t', String(seconds), '-o', serverOptions(launch), 'start'],
    { cwd: layout.directory, detached: true },
  )
  const log = readFileSync(layout.log).subarray(logStart).toString() + output
  if (exitCode === 0) return { outcome: 'started', log }
  if (AGAIN.test(log)) return { outcome: 'again', log }
  if (/could not (bind|create any TCP\/IP sockets)/.test(log)) return { outcome: 'port taken', log }
  return { outcome: 'failed', log }
}

function serverOptions({ port, settings }: Launch): string {
  const own = { listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  const options = Object.entries({ ...settings, ...own }).map(([name, value]) => `-c ${quote(`${name}=${value}`)}`)
  return [`-p ${port}`, ...options].join(' ')
}

/** pg_ctl hands the options to a shell. */
function quote(text: string): string {
  if (process.platform === 'win32') return `"${text.replaceAll('"', '\\"')}"`
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The log has to be there before: the server's user may not create files in the directory. Returns its length. */
function prepareLog(layout: ClusterLayout, user: ServerUser): number {
  closeSync(openSync(layout.log, 'a', 0o600))
  if (user.kind === 'switch') chownSync(layout.log, user.uid, user.gid)
  return statSync(layout.log).size
}
