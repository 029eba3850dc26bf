import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { WorkerMessage, WorkerSettings } from './worker.js'

/** A worker that hasn't ended this long after it was asked to is killed, in milliseconds. */
const STOP_TIMEOUT_MS = 10_000

/** On the sources of the packages, not on a build. */
const RUN_TYPESCRIPT = ['--conditions=@pg-tasks/source', '--import', 'tsx']

/** A worker in a process of its own, seen from its parent. */
export class WorkerProcess {
  readonly name: string
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #ready: Promise<void>
  #expectedToEnd = false
  #stderr = ''
  /** The worker's identity in the database: `run_worker` of its tasks. */
  workerId = ''
  /** What it tells of tasks that it brought back from a dead worker. */
  onRescued: (count: number) => void = () => {}

  constructor(settings: WorkerSettings, onCrash: (error: Error) => void) {
    this.name = settings.name
    this.#child = fork(join(import.meta.dirname, 'worker.ts'), {
      execArgv: RUN_TYPESCRIPT,
      env: { ...process.env, QUICKSTART_WORKER: JSON.stringify(settings) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Ctrl-C goes to the parent, which ends its workers in order.
      detached: true,
    })
    const stderr = this.#child.stderr?.setEncoding('utf8')
    stderr?.on('data', (text: string) => {
      this.#stderr += text
    })
    // Not the event "close": it doesn't come after a disconnect.
    this.#ended = Promise.all([once(this.#child, 'exit'), stderr && finished(stderr)]).then(() => {
      if (!this.#expectedToEnd) onCrash(new Error(`${this.name} ended by itself.\n${this.#stderr}`.trim()))
    })
    this.#ready = new Promise((resolve) => {
      this.#child.on('message', (message: WorkerMessage) => {
        if (message.event === 'rescued') this.onRescued(message.count)
        else {
          this.workerId = message.workerId
          resolve()
        }
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** When it takes tasks. */
  ready(): Promise<void> {
    return this.#ready
  }

  /** `kill -9`: it can't do anything about it. */
  async kill(): Promise<void> {
    this.#expectedToEnd = true
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Lets it finish what it runs. */
  async stop(): Promise<void> {
    this.#expectedToEnd = true
    if (this.#child.connected) this.#child.disconnect()
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await this.#ended
    clearTimeout(patience)
  }
}
