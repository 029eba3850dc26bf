import { setTimeout as delay } from 'node:timers/promises'
import { type ExitStatus, spawnScript, type WorkerProcess } from '../../support/worker-process.js'
import type { HistoryWriter } from '../history.js'
import type { ProgramOptions } from '../workers/program-options.js'
import type { Network } from './network.js'

const WORKER = new URL('../workers/worker.ts', import.meta.url)

/** How long a worker may take to stop after SIGTERM: its handlers' time, their grace, its last statements. */
const LONGEST_STOP_MS = 30_000

const LONGEST_START_MS = 60_000
const RESTART_MS = 200
const LOOK_MS = 100

export type WorkerSettings = Omit<ProgramOptions, 'name' | 'urls' | 'clockShiftMs'>

/** One worker's place: whoever works there is replaced when it ends. */
export class Slot {
  readonly network: Network
  readonly #name: string
  readonly #settings: WorkerSettings
  readonly #history: HistoryWriter
  #process: WorkerProcess | undefined
  #incarnation = 0
  #clockShiftMs = 0
  #closing = false
  #wanted = false
  #frozen = false
  #life: Promise<void> = Promise.resolve()

  constructor(name: string, network: Network, settings: WorkerSettings, history: HistoryWriter) {
    this.#name = name
    this.network = network
    this.#settings = settings
    this.#history = history
  }

  /** Keeps a worker there until {@link close}; resolves when the first one is ready. */
  async start(): Promise<void> {
    this.#life = this.#live()
    await this.#process?.line('ready', { timeoutMs: LONGEST_START_MS })
  }

  get alive(): boolean {
    return this.#process !== undefined && !this.#frozen
  }

  get applicationName(): string {
    return `${this.#name}.${this.#incarnation}`
  }

  kill(): void {
    this.#end('SIGKILL')
  }

  /** Asks it to stop; the next one believes that the time is another. */
  stop(nextClockShiftMs?: number): void {
    if (nextClockShiftMs !== undefined) this.#clockShiftMs = nextClockShiftMs
    this.#end('SIGTERM')
  }

  async freeze(until: Promise<unknown>): Promise<void> {
    const frozen = this.#process
    this.#frozen = true
    frozen?.signal('SIGSTOP')
    await until
    frozen?.signal('SIGCONT')
    this.#frozen = false
  }

  /** Whether it could be told to. */
  block(ms: number): boolean {
    return this.#process?.send({ blockMs: ms }) === true
  }

  /** Asks it to stop and starts no other. */
  async close(): Promise<void> {
    this.#closing = true
    this.#end('SIGTERM')
    await this.#life
  }

  #end(signal: NodeJS.Signals): void {
    this.#wanted = true
    this.#process?.signal(signal)
  }

  async #live(): Promise<void> {
    while (!this.#closing) {
      this.#incarnation += 1
      const name = this.applicationName
      const options: ProgramOptions = {
        ...this.#settings,
        name,
        urls: this.network.urls,
        clockShiftMs: this.#clockShiftMs,
      }
      const running = spawnScript(WORKER, { args: [JSON.stringify(options)] })
      this.#process = running
      this.#wanted = false
      const { pid } = running
      this.#history.write('process_started', { name, pid })
      const { code, signal, overdue } = await this.#ended(running)
      this.#process = undefined
      const wanted = this.#wanted || this.#closing
      const lastWords = running.output.slice(-40)
      this.#history.write('process_ended', { name, pid, code, signal, wanted, overdue, lastWords })
      if (!this.#closing) await delay(RESTART_MS)
    }
  }

  /** Whoever was asked to stop and doesn't is killed, which the checker sees. */
  async #ended(running: WorkerProcess): Promise<ExitStatus & { readonly overdue: boolean }> {
    let hasEnded = false
    let overdue = false
    const ended = running.exited.finally(() => {
      hasEnded = true
    })
    const watch = async (): Promise<void> => {
      let patienceMs = LONGEST_STOP_MS
      for (; !hasEnded && patienceMs > 0; await delay(LOOK_MS)) if (this.#wanted) patienceMs -= LOOK_MS
      overdue = !hasEnded
      if (overdue) running.signal('SIGKILL')
    }
    const [status] = await Promise.all([ended, watch()])
    return { ...status, overdue }
  }
}
