import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { prepareBinaries } from './binaries.js'
import { type ClusterLayout, clusterLayout } from './cluster-layout.js'
import { EmbeddedPostgresError } from './errors.js'
import { type FoundServer, findServer } from './find-server.js'
import { freePort, tryPort } from './free-port.js'
import { initializeCluster } from './initialize-cluster.js'
import { type LaunchResult, launchServer } from './launch-server.js'
import { readLastPort, removeStalePostmasterPid } from './postmaster-pid.js'
import { serverUrl } from './probe.js'
import { chooseServerUser } from './server-user.js'
import { type ResolvedStartOptions, resolveStartOptions, type StartOptions } from './start-options.js'
import { stop } from './stop.js'

/** A server that runs, whoever started it. */
export interface EmbeddedPostgres {
  /** The superuser's connection string, with the password. */
  readonly url: string
  readonly port: number
  /** The process number of the server. */
  readonly pid: number
  /** Whether it ran already. */
  readonly attached: boolean
  /** Stops the server, for all processes that use it: see {@link stop}. */
  stop(): Promise<boolean>
}

const RETRY_MS = 50

/**
 * Starts the PostgreSQL that lives in this directory, or attaches to it if it runs.
 *
 * The first start makes the directory and a cluster in it, with a random password in the file `password`. The server
 * belongs to nobody: it goes on when this process ends, however it ends, until {@link stop}, so that several processes
 * share it by the name of the directory. Of two starts at once, one starts it and the other attaches.
 *
 * @example
 * ```ts
 * import { start } from '@pg-tasks/embedded'
 *
 * const server = await start('.data/postgres')
 * console.log(server.url) // postgres://postgres:…@127.0.0.1:49152/postgres
 * ```
 *
 * @throws {EmbeddedPostgresError} with the code that says why there is no server
 */
export async function start(directory: string, options: StartOptions = {}): Promise<EmbeddedPostgres> {
  const resolved = resolveStartOptions(options)
  const layout = clusterLayout(directory)
  const deadline = performance.now() + resolved.startTimeoutMs

  const running = await findServer(layout)
  if (running?.state === 'ours') return describe(layout, running, true)

  // Only the last folder is private: as root, a private parent would lock out the server's user.
  mkdirSync(dirname(layout.directory), { recursive: true })
  mkdirSync(layout.directory, { recursive: true, mode: 0o700 })
  const user = chooseServerUser(layout)
  const binaries = await prepareBinaries(resolved.binaries, user)
  await initializeCluster(layout, binaries, user)

  let started = false
  for (;;) {
    const found = await findServer(layout)
    if (found?.state === 'ours') return describe(layout, found, !started)
    const timeoutMs = deadline - performance.now()
    if (timeoutMs <= 0) throw timedOut(layout, resolved)

    if (found?.state !== 'unready') {
      removeStalePostmasterPid(layout.postmasterPid)
      const port = await choosePort(layout, resolved)
      const { settings } = resolved
      const result = await launchServer({ layout, binaries, user, port, settings, timeoutMs })
      started = result.outcome === 'started'
      assertHopeful(layout, resolved, result, port)
      if (started) continue
    }
    await delay(RETRY_MS)
  }
}

function describe(layout: ClusterLayout, { server, password }: FoundServer, attached: boolean): EmbeddedPostgres {
  return Object.freeze({
    url: serverUrl(server.port, password),
    port: server.port,
    pid: server.pid,
    attached,
    stop: () => stop(layout.directory),
  })
}

async function choosePort(layout: ClusterLayout, { port }: ResolvedStartOptions): Promise<number> {
  if (port === undefined) return freePort(readLastPort(layout.postmasterOpts))
  if ((await tryPort(port)) === null) throw portTaken(port)
  return port
}

function assertHopeful(layout: ClusterLayout, options: ResolvedStartOptions, result: LaunchResult, port: number): void {
  if (result.outcome === 'port taken' && options.port !== undefined) throw portTaken(port)
  if (result.outcome !== 'failed') return
  throw new EmbeddedPostgresError(
    'EMBEDDED_START_FAILED',
    `PostgreSQL didn't start in ${layout.directory}. Its last words (in full in ${layout.log}):\n${lastLines(result.log)}`,
  )
}

function lastLines(log: string): string {
  return log.trim().split('\n').slice(-10).join('\n')
}

function portTaken(port: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'EMBEDDED_PORT_TAKEN',
    `Port ${port} is in use: choose another one, or leave the option port out.`,
  )
}

function timedOut(layout: ClusterLayout, { startTimeoutMs }: ResolvedStartOptions): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'EMBEDDED_START_TIMEOUT',
    `PostgreSQL didn't accept connections in ${startTimeoutMs} ms. It may still be recovering from a crash: see ` +
      `${layout.log}, and start again with a longer startTimeoutMs.`,
  )
}
