import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { isPostgres } from './process-state.js'
import { randomSuffix } from './random-suffix.js'

/** What a running server writes about itself. */
export interface PostmasterPid {
  readonly pid: number
  readonly port: number
}

function parsePostmasterPid(text: string): PostmasterPid | null {
  const lines = text.split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  return Number.isInteger(pid) && pid > 0 && Number.isInteger(port) && port > 0 ? { pid, port } : null
}

/** The server that runs, or ran when it was cut off, or is about to: only a connection proves that it is there. */
export function readPostmasterPid(file: string): PostmasterPid | null {
  const text = readIfThere(file)
  return text === null ? null : parsePostmasterPid(text)
}

/** The port of the last start, which postmaster.opts keeps beyond the end of the server. */
export function readLastPort(file: string): number | null {
  const port = Number(/"-p"\s+"(\d+)"/.exec(readIfThere(file) ?? '')?.[1])
  return Number.isInteger(port) ? port : null
}

/**
 * Removes a postmaster.pid whose process number now belongs to another program.
 *
 * PostgreSQL refuses to start while any process of its user has that number, which after a crash and a reboot (or in a
 * restarted container, where numbers are small) is a matter of luck.
 */
export function removeStalePostmasterPid(file: string): void {
  const stale = readIfThere(file)
  const server = stale === null ? null : parsePostmasterPid(stale)
  if (server === null || isPostgres(server.pid) !== false) return
  // Moved, then looked at: a racing start may have put its own file there between our look and our hand.
  const aside = `${file}.${randomSuffix()}`
  try {
    renameSync(file, aside)
    if (readIfThere(aside) !== stale) linkSync(aside, file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
