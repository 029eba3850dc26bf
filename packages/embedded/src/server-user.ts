import { spawnSync } from 'node:child_process'
import { chownSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ClusterLayout } from './cluster-layout.js'
import { EmbeddedPostgresError } from './errors.js'

/**
 * Who runs the server. PostgreSQL refuses to be root, so root has to hand it to somebody:
 *
 * - `self`: the user of this process
 * - `switch`: another user
 * - `namespace`: root itself, which a user namespace makes look like somebody else
 */
export type ServerUser =
  | { readonly kind: 'self' }
  | { readonly kind: 'switch'; readonly uid: number; readonly gid: number }
  | { readonly kind: 'namespace' }

type Identity = { readonly uid: number; readonly gid: number }

const NOBODY: Identity = { uid: 65_534, gid: 65_534 }

/** Before a command of util-linux 2.36 or later; inside, the files of root belong to user 1000. */
export const NAMESPACE_COMMAND = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'] as const

/**
 * Decides who runs the server of an existing directory, and gives it to that user if it is still empty.
 *
 * A cluster stays with its owner. A new one goes to the owner of the folder it is in (so that `sudo` in a user's project
 * leaves that user a cluster of their own), else to `postgres`, else to `nobody`.
 *
 * @throws {EmbeddedPostgresError} `EMBEDDED_DIRECTORY_UNREACHABLE` if nobody but root can enter the directory
 */
export function chooseServerUser(layout: ClusterLayout): ServerUser {
  if (process.getuid?.() !== 0) return { kind: 'self' }
  const clusterOwner = ownerOf(layout.data)
  if (clusterOwner !== null) return keepOwner(layout, clusterOwner)

  const parent = dirname(layout.directory)
  const owner = ownerOf(layout.directory)
  const candidate = chooseCandidate([owner, ownerOf(parent)])
  if (owner?.uid === 0 && canEnter(parent, candidate) && readdirSync(layout.directory).length === 0) {
    chownSync(layout.directory, candidate.uid, candidate.gid)
  }
  if (canEnter(layout.directory, candidate)) return { kind: 'switch', uid: candidate.uid, gid: candidate.gid }
  if (canEnterInNamespace(layout.directory)) return { kind: 'namespace' }
  throw unreachable(layout, candidate)
}

function keepOwner(layout: ClusterLayout, owner: Identity): ServerUser {
  if (owner.uid === 0) return { kind: 'namespace' }
  if (canEnter(layout.data, owner)) return { kind: 'switch', ...owner }
  throw unreachable(layout, owner)
}

function chooseCandidate(owners: readonly (Identity | null)[]): Identity {
  const users = knownUsers()
  for (const owner of owners) {
    if (owner !== null && owner.uid !== 0 && users.some(({ uid }) => uid === owner.uid)) return owner
  }
  return users.find(({ name }) => name === 'postgres') ?? NOBODY
}

function ownerOf(path: string): Identity | null {
  try {
    const { uid, gid } = statSync(path)
    return { uid, gid }
  } catch {
    return null
  }
}

/** The users that the system knows: initdb refuses to run as a mere number, which owns many a folder in containers. */
function knownUsers(): { readonly name: string; readonly uid: number; readonly gid: number }[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [name, , uid, gid] = line.split(':')
      return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []
    })
}

/** Asks the system instead of computing it from modes, which would overlook access lists and mount options. */
function canEnter(path: string, { uid, gid }: Identity): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', path], { uid, gid, cwd: '/', stdio: 'ignore' }).status === 0
}

function canEnterInNamespace(path: string): boolean {
  const [command, ...args] = NAMESPACE_COMMAND
  return spawnSync(command, [...args, '/bin/sh', '-c', 'cd "$1"', 'sh', path], { stdio: 'ignore' }).status === 0
}

function unreachable(layout: ClusterLayout, { uid }: Identity): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'EMBEDDED_DIRECTORY_UNREACHABLE',
    `PostgreSQL doesn't run as root, and user ${uid}, who would run it, can't enter ${layout.directory}. ` +
      `Choose a directory outside of root's own folders (under /var/lib, say), or run this as another user.`,
  )
}
