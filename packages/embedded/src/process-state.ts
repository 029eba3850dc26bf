import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Whether this process is a PostgreSQL server that lives; `null` where the system doesn't tell. */
export function isPostgres(pid: number): boolean | null {
  if (!processExists(pid)) return false
  try {
    if (existsSync('/proc/self/stat')) return isLivingPostgres(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    if (process.platform === 'win32') return null
    return /(^|\/)postgres/.test(execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }))
  } catch {
    return processExists(pid) ? null : false
  }
}

/** A dead server whose parent doesn't collect it (a container's first process, often) keeps its name and its number. */
function isLivingPostgres(stat: string): boolean {
  const [, name, state] = /\((.*)\) (\S)/s.exec(stat) ?? []
  return name === 'postgres' && state !== 'Z' && state !== 'X'
}
