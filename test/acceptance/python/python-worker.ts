import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const INSTALL_TIMEOUT_MS = 120_000
const PACKAGES = ['pg-tasks==0.0.4', 'psycopg[binary]>=3.3,<4']

/** A Python that has the convention's client, or why there is none. */
export interface Python {
  readonly program?: string
  readonly missing?: string
  remove(): void
}

/** Makes a virtual environment of its own. */
export async function installPython(): Promise<Python> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-tasks-python-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const program = join(folder, 'bin', 'python')
  try {
    await execute('python3', ['-m', 'venv', folder])
    await execute(program, ['-m', 'pip', 'install', '--quiet', ...PACKAGES], { timeout: INSTALL_TIMEOUT_MS })
    return { program, remove }
  } catch (error) {
    return { missing: `No Python with ${PACKAGES.join(' and ')}: ${(error as Error).message}`, remove }
  }
}

/** A Python worker as a process. It has no way to stop but its end. */
export class PythonWorker {
  readonly output: string[] = []
  readonly #child: ChildProcess

  constructor(program: string, env: Readonly<Record<string, string>>) {
    const script = join(import.meta.dirname, 'worker.py')
    this.#child = spawn(program, [script], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.output.push(line))
    }
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
