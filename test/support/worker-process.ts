import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type WaitOptions, waitFor, within } from './wait-for.js'

export interface SpawnScriptOptions {
  readonly args?: readonly string[]
  /** Added to the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Give it a process group of its own, which `process.kill(-pid, 'SIGINT')` reaches as Ctrl-C in a terminal does.
   *
   * @defaultValue false
   */
  readonly detached?: boolean
}

export interface ExitStatus {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A TypeScript program that runs as a process of its own. */
export interface WorkerProcess {
  readonly pid: number
  /** All lines of its standard output and standard error so far. */
  readonly output: readonly string[]
  /** When it has ended, and how. */
  readonly exited: Promise<ExitStatus>
  /** Waits for the next line of its output that matches, beginning after the last line that this call returned. */
  line(pattern: RegExp | string, options?: WaitOptions): Promise<string>
  /** Waits for the next message it sends with `process.send`, in order. */
  message<T = unknown>(options?: WaitOptions): Promise<T>
  /** Sends it a message (`process.on('message', …)`); false if nobody is there: a process that ends closes its channel first. */
  send(message: unknown): boolean
  /** Sends it a signal and waits until it has ended. */
  kill(signal?: NodeJS.Signals, options?: WaitOptions): Promise<ExitStatus>
  /** Sends it a signal and doesn't wait: SIGSTOP, SIGCONT, SIGTERM. */
  signal(signal: NodeJS.Signals): void
}

const ROOT = join(import.meta.dirname, '..', '..')
const RUN_TYPESCRIPT = ['--conditions=@pg-tasks/source', '--import', 'tsx']

/**
 * Ends the program with the tests, which would leave nobody to stop it. By the end of its standard input, and not of the
 * message channel: a listener there would keep a program alive that is done.
 */
const END_WITH_PARENT = `data:text/javascript,process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume().unref()`

const running = new Set<OwnProcess>()

/**
 * Runs a TypeScript file in a Node process of its own, on the sources of our packages. What still runs at the end of the
 * test file is killed.
 */
export function spawnScript(script: string | URL, options: SpawnScriptOptions = {}): WorkerProcess {
  return new OwnProcess(typeof script === 'string' ? script : fileURLToPath(script), options)
}

export async function killAllProcesses(): Promise<void> {
  await Promise.all([...running].map((one) => one.kill('SIGKILL')))
}

class OwnProcess implements WorkerProcess {
  readonly output: string[] = []
  readonly exited: Promise<ExitStatus>
  readonly #child: ChildProcess
  readonly #messages: unknown[] = []
  #nextLine = 0
  #status: ExitStatus | null = null

  constructor(script: string, { args = [], env = {}, detached = false }: SpawnScriptOptions) {
    this.#child = spawn(process.execPath, [...RUN_TYPESCRIPT, '--import', END_WITH_PARENT, script, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      detached,
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    })
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code, signal) => {
        running.delete(this)
        this.#status = { code, signal }
        resolve(this.#status)
      })
    })
    this.exited.catch(() => {})
    this.#child.on('message', (message) => this.#messages.push(message))
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => this.output.push(line))
    }
    running.add(this)
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('The process was not started.')
    return this.#child.pid
  }

  line(pattern: RegExp | string, options: WaitOptions = {}): Promise<string> {
    return this.#await(`a line with ${pattern}`, options, () => {
      const index = this.output.findIndex((line, at) => at >= this.#nextLine && contains(line, pattern))
      if (index < 0) return undefined
      this.#nextLine = index + 1
      return { found: this.output[index] ?? '' }
    })
  }

  message<T = unknown>(options: WaitOptions = {}): Promise<T> {
    return this.#await<T>('a message', options, () =>
      this.#messages.length > 0 ? { found: this.#messages.shift() as T } : undefined,
    )
  }

  send(message: unknown): boolean {
    if (!this.#child.connected) return false
    this.#child.send(message as string, () => {})
    return true
  }

  kill(signal: NodeJS.Signals = 'SIGKILL', options: WaitOptions = {}): Promise<ExitStatus> {
    this.#child.kill(signal)
    return within(this.exited, { timeoutMs: 10_000, what: `the end after ${signal}`, ...options })
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async #await<T>(what: string, options: WaitOptions, look: () => { found: T } | undefined): Promise<T> {
    try {
      const { found } = await waitFor(
        () => {
          const result = look()
          if (result === undefined && this.#status !== null)
            throw new Error(`It ended: ${JSON.stringify(this.#status)}`)
          return result
        },
        { timeoutMs: 15_000, what, ...options },
      )
      return found
    } catch (cause) {
      const output = this.output.slice(-30).join('\n')
      throw new Error(`Process ${this.#child.pid}: no ${what}. Its output:\n${output}`, { cause })
    }
  }
}

function contains(line: string, pattern: RegExp | string): boolean {
  return typeof pattern === 'string' ? line.includes(pattern) : pattern.test(line)
}
