import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { onTestFinished, vi } from 'vitest'
import { waitFor, within } from '../../support/wait-for.js'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const MAIN = join(ROOT, 'packages', 'cli', 'src', 'main.ts')

/** Each command is a process that loads everything anew, on machines that are shared. */
vi.setConfig({ testTimeout: 120_000 })

export interface CliOptions {
  readonly cwd?: string
  /** Replaces or, with undefined, removes variables. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: string
  /** Whether nobody reads standard output: its reader goes at once. */
  readonly deaf?: boolean
}

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Standard output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has a shape of its own
  readonly json: any
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** From source; with TEST_CLI=built what `npm run build` made, as users get it, in a third of the time. */
function command(): readonly string[] {
  if (process.env.TEST_CLI === 'built') return [join(ROOT, 'packages', 'cli', 'bin', 'pg-tasks.js')]
  // tsx is found from the folder of the repository, wherever the command runs.
  return ['--conditions=@pg-tasks/source', '--import', import.meta.resolve('tsx'), MAIN]
}

function spawnCli(args: readonly string[], { cwd = ROOT, env = {} }: CliOptions): Child {
  const inherited = { ...process.env, NO_COLOR: '1', DATABASE_URL: undefined, ...env }
  return spawn(process.execPath, [...command(), ...args], { cwd, env: inherited, stdio: ['pipe', 'pipe', 'pipe'] })
}

/** Runs a command and waits for its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = spawnCli(args, options)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (text: Buffer) => {
    stdout += text.toString()
  })
  child.stderr.on('data', (text: Buffer) => {
    stderr += text.toString()
  })
  if (options.deaf === true) child.stdout.destroy()
  // A command may have had enough before the end.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const code = await within(new Promise<number | null>((resolve) => child.once('close', resolve)), {
    timeoutMs: 60_000,
    what: `the end of pg-tasks ${args.join(' ')}`,
  })
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout) as unknown
    },
  }
}

/** A command that goes on until it is told to end. */
export interface RunningCli {
  readonly pid: number
  readonly lines: readonly string[]
  readonly ended: Promise<{ code: number | null; signal: string | null }>
  /** The first line of its output, from the `after`th on, that matches. */
  line(pattern: RegExp, after?: number): Promise<string>
  signal(name: NodeJS.Signals): void
  /** Whoever reads its output goes. */
  goDeaf(): void
}

/** Starts a command; killed at the end of the test if it still runs. */
export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const child = spawnCli(args, options)
  const lines: string[] = []
  let rest = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text: Buffer) => {
      const parts = (rest + text.toString()).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
    })
  }
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    line: async (pattern, after = 0) => {
      try {
        const what = `a line with ${pattern}`
        return await waitFor(() => lines.slice(after).find((line) => pattern.test(line)), { timeoutMs: 40_000, what })
      } catch (cause) {
        throw new Error(`No line with ${pattern} in:\n${lines.join('\n')}`, { cause })
      }
    },
    signal: (name) => child.kill(name),
    goDeaf: () => {
      child.stdout.destroy()
      child.stderr.destroy()
    },
  }
}
