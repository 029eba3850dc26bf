import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { randomSuffix } from './random-suffix.js'
import type { ServerUser } from './server-user.js'

/**
 * Makes the password of a new cluster, unless another start has just made it: the first file wins, whole, because a
 * hard link appears with its content.
 */
export function ensurePassword(file: string, owner: ServerUser): string {
  const draft = `${file}.${randomSuffix()}`
  writeFileSync(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
  try {
    chmodSync(draft, 0o600)
    if (owner.kind === 'switch') chownSync(draft, owner.uid, owner.gid)
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return readPassword(file)
}

export function readPassword(file: string): string {
  return readFileSync(file, 'utf8').trim()
}
