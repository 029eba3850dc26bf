import type { ClusterLayout } from './cluster-layout.js'
import { EmbeddedPostgresError } from './errors.js'
import { readPassword } from './password.js'
import { type PostmasterPid, readPostmasterPid } from './postmaster-pid.js'
import { type ProbeResult, probe } from './probe.js'

export interface FoundServer {
  readonly state: ProbeResult
  readonly server: PostmasterPid
  readonly password: string
}

/**
 * Looks for the server that runs on this directory; `null` if nothing says that there is or was one.
 *
 * @throws {EmbeddedPostgresError} `EMBEDDED_DIRECTORY_FOREIGN` if this user may not read the directory
 */
export async function findServer(layout: ClusterLayout): Promise<FoundServer | null> {
  try {
    const server = readPostmasterPid(layout.postmasterPid)
    if (server === null) return null
    const password = readPassword(layout.password)
    return { state: await probe(server.port, password, layout.data), server, password }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code !== 'EACCES' && code !== 'EPERM') throw cause
    throw new EmbeddedPostgresError(
      'EMBEDDED_DIRECTORY_FOREIGN',
      `${layout.directory} belongs to another user: run this as that user, or name another directory.`,
      { cause },
    )
  }
}
