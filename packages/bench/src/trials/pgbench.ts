import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What a run of pgbench gave. */
export interface PgbenchResult {
  readonly transactions: number
  readonly perSecond: number
  readonly latencyMs: number
}

export interface PgbenchOptions {
  readonly url: string
  readonly script: string
  readonly clients: number
  /** How long, or how many transactions of each client. */
  readonly seconds?: number
  readonly transactions?: number
}

/** Whether pgbench is on this machine. */
export function hasPgbench(): boolean {
  try {
    execFileSync('pgbench', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Runs a script by many clients: a client in C, so that what is measured is the server. */
export async function pgbench({ url, script, clients, seconds, transactions }: PgbenchOptions): Promise<PgbenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-tasks-pgbench-'))
  try {
    const file = join(folder, 'script.sql')
    writeFileSync(file, script)
    const length = seconds === undefined ? ['-t', String(transactions ?? 1)] : ['-T', String(seconds)]
    const { stdout } = await run('pgbench', [
      ...['-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-f', file, ...length, url],
    ])
    return {
      transactions: numberIn(stdout, /transactions actually processed: (\d+)/),
      perSecond: numberIn(stdout, /tps = ([\d.]+)/),
      latencyMs: numberIn(stdout, /latency average = ([\d.]+) ms/),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1]
  if (found === undefined) throw new Error(`pgbench said:\n${text}`)
  return Number(found)
}
