import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second on every platform that has /proc. */
const TICKS_PER_SECOND = 100

interface ProcessTimes {
  readonly parent: number
  readonly own: number
  readonly endedChildren: number
}

/**
 * CPU seconds of a server since it was started: its postmaster, its living children, and those that have ended. undefined
 * where there is no /proc, or the server is on another machine.
 */
export function serverCpuSeconds(postmaster: number | undefined): number | undefined {
  if (postmaster === undefined) return undefined
  const main = timesOf(postmaster)
  if (main === undefined) return undefined
  let ticks = main.own + main.endedChildren
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const child = timesOf(Number(name))
    if (child?.parent === postmaster) ticks += child.own
  }
  return ticks / TICKS_PER_SECOND
}

/** CPU seconds of everything on this machine, idle time left out; and the seconds that all its cores had. */
export function machineCpuSeconds(): { readonly busy: number; readonly total: number } | undefined {
  const line = read('/proc/stat')?.split('\n', 1)[0]
  if (line === undefined) return undefined
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number)
  const total = fields.reduce((sum, ticks) => sum + ticks, 0)
  const idle = (fields[3] ?? 0) + (fields[4] ?? 0)
  return { busy: (total - idle) / TICKS_PER_SECOND, total: total / TICKS_PER_SECOND }
}

/** CPU seconds of this process. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function timesOf(pid: number): ProcessTimes | undefined {
  const text = read(`/proc/${pid}/stat`)
  if (text === undefined) return undefined
  // The name may hold blanks and parentheses; the fields that matter stand behind its last parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (index: number): number => Number(fields[index])
  return { parent: field(1), own: field(11) + field(12), endedChildren: field(13) + field(14) }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
