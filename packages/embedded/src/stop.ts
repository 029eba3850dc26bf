import { setTimeout as delay } from 'node:timers/promises'
import { type ClusterLayout, clusterLayout } from './cluster-layout.js'
import { EmbeddedPostgresError } from './errors.js'
import { findServer } from './find-server.js'
import { readPostmasterPid } from './postmaster-pid.js'
import { isPostgres } from './process-state.js'

const STOP_TIMEOUT_MS = 60_000
const CHECK_MS = 10

/**
 * Stops the server of this directory, if one runs: sessions are disconnected, open transactions roll back, all data is
 * on disk when it returns.
 *
 * @returns whether a server ran; a dead one, or a directory without one, is no failure
 * @throws {EmbeddedPostgresError} `EMBEDDED_STOP_FAILED` if it hasn't stopped within a minute
 */
export async function stop(directory: string): Promise<boolean> {
  const layout = clusterLayout(directory)
  const found = await findServer(layout)
  // A server may run that takes no connection; a process may have the number that is no server. Signal only the former.
  if (found === null || (found.state === 'absent' && isPostgres(found.server.pid) !== true)) return false
  const { pid } = found.server
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw stopFailed(layout, pid, error)
  }
  const deadline = performance.now() + STOP_TIMEOUT_MS
  while (isRunning(layout, pid)) {
    if (performance.now() > deadline) throw stopFailed(layout, pid)
    await delay(CHECK_MS)
  }
  return true
}

function isRunning(layout: ClusterLayout, pid: number): boolean {
  return readPostmasterPid(layout.postmasterPid)?.pid === pid && isPostgres(pid) !== false
}

function stopFailed(layout: ClusterLayout, pid: number, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'EMBEDDED_STOP_FAILED',
    `The server in ${layout.directory} (process ${pid}) didn't stop: see ${layout.log}.`,
    { cause },
  )
}
