import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LogFields } from '@pg-tasks/client'
import { CliError } from '../cli-error.js'
import { childFile } from './child-file.js'
import type { ChildMessage, ChildSettings, LogLevel, ParentMessage } from './child-messages.js'

/** What a supervisor needs. */
export interface SupervisorOptions {
  readonly processes: number
  readonly settings: ChildSettings
  /** What Node is started with, besides what this process was. */
  readonly execArgv: readonly string[]
  readonly databaseUrl: string
  /** Whether a process that can't start is waited for to be mended, as while files are watched. */
  readonly patient: boolean
  readonly log: (level: LogLevel, message: string, fields: LogFields) => void
  readonly onReady?: ((types: readonly string[]) => void) | undefined
}

const FIRST_RESTART_MS = 200
const LONGEST_RESTART_MS = 30_000
/** A process that lived this long has recovered. */
const RECOVERED_MS = 30_000
/** Beyond the workers' own stop timeout: for aborted handlers, and the module's close(). */
const STOP_GRACE_MS = 20_000

/** One place for a process, whichever lives there now. */
interface Place {
  readonly number: number
  child: ChildProcess | undefined
  startedAt: number
  /** Whether the child has become ready, or was asked to stop: then its end with exit code 0 is in order. */
  mayEnd: boolean
  failures: number
  timer: NodeJS.Timeout | undefined
}

/** Keeps processes of workers running: restarts those that end by themselves, later each time; stops all in order. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #places: Place[]
  #phase: 'running' | 'stopping' = 'running'
  #everReady = false
  #fatal: CliError | undefined
  #end: () => void = () => {}

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#places = Array.from({ length: options.processes }, (_, index) => {
      return { number: index + 1, child: undefined, startedAt: 0, mayEnd: false, failures: 0, timer: undefined }
    })
  }

  /** Runs until {@link stop}. @throws CliError if the first processes can't start */
  async run(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve
    })
    for (const place of this.#places) this.#start(place)
    await ended
    if (this.#fatal !== undefined) throw this.#fatal
  }

  /** Lets every process end what it runs; those that haven't ended in time are killed. */
  stop(): void {
    if (this.#phase === 'stopping') return
    this.#phase = 'stopping'
    for (const place of this.#places) this.#stopOne(place)
    this.#endIfAllHave()
  }

  /** Ends all processes at once. */
  kill(): void {
    this.#phase = 'stopping'
    for (const { child } of this.#places) child?.kill('SIGKILL')
  }

  /** Stops every process and starts it anew: its modules have changed. */
  restart(): void {
    if (this.#phase === 'stopping') return
    for (const place of this.#places) {
      place.failures = 0
      if (place.child === undefined) this.#start(place)
      else this.#stopOne(place)
    }
  }

  #start(place: Place): void {
    const { settings, execArgv, databaseUrl } = this.#options
    clearTimeout(place.timer)
    place.timer = undefined
    place.startedAt = performance.now()
    place.mayEnd = false
    const child = fork(fileURLToPath(childFile('child')), [JSON.stringify(settingsOf(settings, place.number))], {
      execArgv: [...process.execArgv, ...execArgv],
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // A group of its own: Ctrl-C goes to us, who stop it in order.
      detached: process.platform !== 'win32',
    })
    place.child = child
    let fatal: Extract<ChildMessage, { event: 'fatal' }> | undefined
    child.on('message', (message: ChildMessage) => {
      if (message.event === 'fatal') fatal = message
      else this.#hear(place, message)
    })
    child.on('error', (error) => this.#log(place, 'error', error.message))
    child.once('exit', (code, signal) => this.#ended(place, { code, signal, fatal }))
  }

  #hear(place: Place, message: Exclude<ChildMessage, { event: 'fatal' }>): void {
    if (message.event === 'log') {
      this.#log(place, message.level, message.message, message.fields)
      return
    }
    this.#everReady = true
    place.mayEnd = true
    this.#options.onReady?.(message.types)
    this.#log(place, 'info', `ready, serves ${message.types.join(', ')}`, { pid: place.child?.pid })
  }

  #ended(
    place: Place,
    how: {
      code: number | null
      signal: string | null
      fatal: { message: string; hint: string | undefined } | undefined
    },
  ): void {
    place.child = undefined
    const { fatal } = how
    if (this.#phase === 'stopping') {
      this.#endIfAllHave()
      return
    }
    if (how.code === 0 && place.mayEnd) {
      // It was asked to, by a signal or by us: its place isn't given up.
      this.#start(place)
      return
    }
    if (fatal !== undefined && !this.#everReady && !this.#options.patient) {
      this.#fatal = new CliError(fatal.message, fatal.hint === undefined ? {} : { hint: fatal.hint })
      this.stop()
      return
    }
    if (fatal !== undefined && this.#options.patient) {
      this.#log(place, 'error', `${fatal.message} (waiting for a change)`)
      return
    }
    if (performance.now() - place.startedAt > RECOVERED_MS) place.failures = 0
    const delayMs = Math.min(LONGEST_RESTART_MS, FIRST_RESTART_MS * 2 ** place.failures)
    place.failures += 1
    const reason = fatal?.message ?? (how.signal === null ? `exit code ${how.code}` : how.signal)
    this.#log(place, 'error', `ended by itself (${reason}); starts again in ${delayMs} ms`)
    place.timer = setTimeout(() => this.#start(place), delayMs)
  }

  #stopOne(place: Place): void {
    clearTimeout(place.timer)
    place.timer = undefined
    const { child } = place
    if (child === undefined) return
    place.mayEnd = true
    if (child.connected) child.send({ event: 'stop' } satisfies ParentMessage, () => {})
    else child.kill('SIGTERM')
    const patience = setTimeout(() => child.kill('SIGKILL'), this.#options.settings.stopTimeoutMs + STOP_GRACE_MS)
    child.once('exit', () => clearTimeout(patience))
  }

  #endIfAllHave(): void {
    if (this.#places.every((place) => place.child === undefined)) this.#end()
  }

  #log({ number }: Place, level: LogLevel, message: string, fields: LogFields = {}): void {
    this.#options.log(level, message, { ...fields, process: number })
  }
}

/** Two processes can't serve on one port. */
function settingsOf(settings: ChildSettings, number: number): ChildSettings {
  const { metrics } = settings
  return metrics === undefined ? settings : { ...settings, metrics: { ...metrics, port: metrics.port + number - 1 } }
}
