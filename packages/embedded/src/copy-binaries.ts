import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { randomSuffix } from './random-suffix.js'
import { restoreSymlinks } from './symlinks.js'

/**
 * Copies the binaries to where every user can read them, once per version, and returns the folder of the copy.
 *
 * For a project inside a folder that only root can enter, and for a node_modules that can't be written to.
 */
export function copyBinaries(native: string): string {
  const target = join(cacheFolder(), copyName(native), 'native')
  if (existsSync(target)) return target
  const draft = `${join(target, '..')}.${randomSuffix()}`
  mkdirSync(draft, { recursive: true })
  try {
    cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
    restoreSymlinks(join(draft, 'native'))
    if (process.platform !== 'win32') execFileSync('chmod', ['-R', 'u+w,a+rX', draft])
    // Whatever the umask of root is.
    if (process.getuid?.() === 0) chmodSync(cacheFolder(), 0o755)
    renameSync(draft, join(target, '..'))
  } catch (error) {
    // Another start was faster.
    if (!existsSync(target)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return target
}

function copyName(native: string): string {
  const { mtimeMs, size } = statSync(join(native, 'bin'))
  return createHash('sha256')
    .update(`${realpathSync(native)} ${mtimeMs} ${size}`)
    .digest('hex')
    .slice(0, 16)
}

function cacheFolder(): string {
  if (process.getuid?.() === 0) return join('/var/cache', 'pg-tasks-embedded')
  const base =
    process.platform === 'win32' ? process.env.LOCALAPPDATA : (process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'))
  return join(base ?? homedir(), 'pg-tasks-embedded')
}
