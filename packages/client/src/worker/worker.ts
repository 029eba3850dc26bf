import { randomUUID } from 'node:crypto'
import { resolveConnection } from '../connection/connection-source.js'
import { NotDeliveringError } from '../errors/connection-errors.js'
import { describeThrown } from '../errors/describe-thrown.js'
import { InvalidArgumentError } from '../errors/invalid-argument-error.js'
import { EventSource } from '../events/event-source.js'
import { Listener } from '../listener/listener.js'
import { FailureLog } from '../logger/failure-log.js'
import type { TaskLogger } from '../logger/logger.js'
import { safeLogger } from '../logger/safe-logger.js'
import type { Middleware } from '../middleware/middleware.js'
import { MiddlewareChain } from '../middleware/middleware-chain.js'
import { resolveSchedule, type ScheduledColumns, type ScheduleOptions } from '../schedule/schedule-options.js'
import type { Columns } from '../task/claimed.js'
import type { Task } from '../task/task.js'
import { sleep } from '../timers/sleep.js'
import { DatabaseWatch } from './database-watch.js'
import { onStopSignals } from './stop-signals.js'
import { stopTimeout } from './stop-timeout.js'
import { TaskCounter, type TypeCounts } from './type/task-counter.js'
import type { TypeContext } from './type/type-context.js'
import { TypeRunners } from './type/type-runners.js'
import { WorkerEmitter } from './worker-emitter.js'
import type { WorkerEvents } from './worker-events.js'
import type { WorkerHealth } from './worker-health.js'
import { connectionOf, type ResolvedWorkerOptions, resolveWorkerOptions, type WorkerOptions } from './worker-options.js'
import { WorkerServices } from './worker-services.js'
import { WorkerSession } from './worker-session.js'

/** Channels of migration 0002 and of cancel and reset. */
const TASKS_CHANNEL = 'pg_tasks'
const CONTROL_CHANNEL = 'pg_tasks_control'

/** How long `stop` lets the statements of schedules and maintenance go on, in milliseconds. */
const LAST_STATEMENT_MS = 500

/**
 * Runs tasks of any number of types: acquires them in batches, renews their leases, writes their outcomes, and sleeps until the
 * nearest is due or a commit notifies. It holds four connections of its own, whatever the number of types
 * and slots, and one more for each type with `settle: 'one_transaction'`.
 *
 * @example
 * const worker = new Worker({ connectionString: 'postgres://localhost/shop' })
 * worker.add(new SendInvoice(pool), 4)
 * await worker.run() // until worker.stop() or SIGTERM
 */
export class Worker extends EventSource<WorkerEvents> {
  /** Identity of this worker, new at each start; `run_worker` of its tasks. */
  readonly id: string
  readonly #options: ResolvedWorkerOptions
  readonly #logger: TaskLogger
  readonly #events: WorkerEmitter
  readonly #middleware = new MiddlewareChain()
  readonly #context: TypeContext
  readonly #listener: Listener
  readonly #watch = new DatabaseWatch()
  readonly #sessions: readonly WorkerSession[]
  readonly #services: WorkerServices
  readonly #runners: TypeRunners
  readonly #counter: TaskCounter
  #phase: WorkerHealth['state'] = 'new'
  #delivering = false
  #running: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #endRun: () => void = () => {}

  /** @throws InvalidOptionError that names the option. Nothing is connected yet. */
  constructor(options: WorkerOptions) {
    const resolved = resolveWorkerOptions(options)
    const logger = safeLogger(resolved.logger)
    const id = randomUUID()
    const events = new WorkerEmitter(id, (error, event) => {
      logger.error({ event, error: describeThrown(error) }, 'A listener of the worker threw')
    })
    super(events)
    this.id = id
    this.#options = resolved
    this.#logger = logger
    this.#events = events
    const source = resolveConnection('Worker', connectionOf(this.#options))
    for (const warning of source.warnings) this.#logger.warn({}, warning)
    const { applicationName } = this.#options
    const session = (onLost?: () => void): WorkerSession =>
      new WorkerSession(source, {
        applicationName,
        direct: () => this.#listener.status.proven,
        watch: this.#watch,
        onLost,
      })
    // With the session go the locks by which workers sleep: whoever sleeps must say so again.
    const [control, settling, beating] = [session(() => this.#runners.wake()), session(), session()]
    this.#sessions = [control, settling, beating]
    this.#context = {
      workerId: this.id,
      options: this.#options,
      events: this.#events,
      logger: this.#logger,
      failures: new FailureLog(this.#logger),
      middleware: this.#middleware,
      control,
      settling,
      beating,
      open: () => session(),
      listening: () => this.#delivering,
    }
    this.#runners = new TypeRunners(this.#context)
    this.#counter = new TaskCounter(session, () => [...this.#runners].map(({ task }) => task.options))
    this.#services = new WorkerServices(this.#context)
    this.#listener = new Listener({
      source,
      channels: [TASKS_CHANNEL, CONTROL_CHANNEL],
      applicationName,
      logger: this.#logger,
      onNotification: (channel, payload) => this.#hear(channel, payload),
      onUp: () => this.#onListening(),
      onDown: (reason) => this.#onDown(reason),
    })
  }

  /**
   * Takes tasks of this type, `concurrency` at a time in this process. A type that is there already is left as it is.
   *
   * @throws InvalidArgumentError if it isn't a Task, or the number isn't a whole one from 1 to 10,000; or if another Task has
   * the same table
   */
  add(task: Task<never> | Task<object>, concurrency = 1): this {
    if (this.#phase === 'stopping' || this.#phase === 'stopped') {
      throw new InvalidArgumentError('task', 'comes too late: the worker has been stopped. Make a new Worker.')
    }
    this.#runners.add(task, concurrency)
    return this
  }

  /**
   * Declares a schedule: written at the start of `run()` (at once if it runs), brought up to date by its key. Schedules that
   * are not declared stay as they are.
   *
   * @throws InvalidOptionError if an option can't be used. What only the database knows (columns) makes `run()` reject.
   */
  schedule<Own extends Columns>(task: Task<Own>, options: ScheduleOptions, columns: ScheduledColumns<Own>): this {
    this.#services.schedules.declare(resolveSchedule(task, options, columns, 'code'))
    return this
  }

  /**
   * At the start, removes the schedules that code has declared and this worker doesn't, after its own are written. Other
   * programs that declare schedules in this database need another beginning of their keys: give it as `keyPrefix`.
   */
  removeUndeclaredSchedules(options: { readonly keyPrefix?: string } = {}): this {
    this.#services.schedules.removeUndeclared(options.keyPrefix ?? '')
    return this
  }

  /**
   * Adds a function around every run, after those that are there; runs that have begun are not touched. In a `BatchTask` it
   * stands around each member, not around the batch.
   *
   * @throws InvalidArgumentError unless it is a function
   */
  use(middleware: Middleware): this {
    this.#middleware.add(middleware)
    return this
  }

  /** Takes no more tasks of this type; resolves when the running ones have ended (or the stop timeout has passed). */
  remove(task: Task<never> | Task<object>): Promise<void> {
    return this.#runners.remove(task, this.#options.stopTimeoutMs)
  }

  /**
   * Works until `stop()` is called or, with `handleSignals`, the process gets SIGTERM or SIGINT; resolves when everything has
   * ended. While the database can't be reached it keeps trying.
   *
   * @throws TypeNotRegisteredError if a type isn't registered at the start
   * @throws TableShapeError if its table lacks one of the Task's `columns` then
   * @throws the database's error if the schema `tasks` isn't there: call `migrate` first
   */
  run(): Promise<void> {
    this.#running ??= this.#phase === 'new' ? this.#run() : Promise.resolve()
    return this.#running
  }

  /**
   * Stops: no new tasks; running ones may end, those that haven't within `timeoutMs` are aborted; unstarted and aborted ones
   * are given back without counting the execution. Can be called at any moment and any number of times, also with less time
   * than before; never rejects. Options that can't be used are told as an `error`, and stop nobody from stopping.
   *
   * @param options.timeoutMs - defaults to the option `stopTimeoutMs`
   */
  stop(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    const timeoutMs = stopTimeout(options, this.#context)
    if (this.#stopping !== undefined) {
      void this.#runners.stop(timeoutMs)
      return this.#stopping
    }
    const wasRunning = this.#phase === 'running'
    this.#phase = 'stopping'
    this.#stopping = this.#stop(timeoutMs, wasRunning)
    // Who hears of it may call this again.
    if (wasRunning) this.#events.emit('stopping')
    return this.#stopping
  }

  /** `await using worker = new Worker(…)` stops it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** What the worker knows of itself at this moment; asks nobody, so it can be called as often as you like, at any time. */
  health(): WorkerHealth {
    const { listening, lastPingAt, reconnects } = this.#listener.status
    const database = this.#watch.health
    return Object.freeze({
      id: this.id,
      state: this.#phase,
      listening,
      lastPingAt,
      reconnects,
      database: this.#phase === 'stopped' ? Object.freeze({ ...database, answers: false }) : database,
      types: [...this.#runners].map((runner) => runner.health),
    })
  }

  /**
   * Counts the tasks of its types, with what other workers and enqueuers have there; on a connection of its own, which is made
   * when this is first called. The cost doesn't grow with the tables.
   *
   * @throws ClosedError after `stop()`; the database's error if it can't be asked
   */
  counts(): Promise<readonly TypeCounts[]> {
    return this.#counter.counts()
  }

  async #run(): Promise<void> {
    this.#phase = 'running'
    const ended = new Promise<void>((resolve) => {
      this.#endRun = resolve
    })
    const removeSignals = this.#options.handleSignals ? onStopSignals((signal) => this.#onSignal(signal)) : () => {}
    try {
      // The listener goes first: what is found out about the connection holds for the others.
      await this.#listener.start()
      for (const session of this.#sessions) session.keepOpen()
      await this.#runners.check()
      await this.#services.schedules.start()
      if (this.#phase === 'running') {
        this.#runners.start()
        this.#services.start()
        void this.#watch.firstAnswer.then(() => this.#phase === 'running' && this.#events.emit('ready'))
      }
      await ended
    } catch (error) {
      await this.stop({ timeoutMs: 0 })
      throw error
    } finally {
      removeSignals()
    }
  }

  #onSignal(signal: NodeJS.Signals): void {
    this.#logger.info({ signal }, 'Stopping once running tasks have ended; a second signal ends the process at once')
    void this.stop()
  }

  async #stop(timeoutMs: number, wasRunning: boolean): Promise<void> {
    this.#services.schedules.stop()
    await this.#runners.stop(timeoutMs)
    const services = Promise.allSettled([this.#listener.close(), this.#services.stop()])
    await Promise.race([services, sleep(LAST_STATEMENT_MS, { unref: true })])
    // Whoever still waits for an answer is told that none will come.
    await Promise.allSettled([...this.#sessions, this.#counter].map((session) => session.close()))
    await services
    this.#phase = 'stopped'
    if (wasRunning) this.#events.emit('stopped')
    this.#endRun()
  }

  #onListening(): void {
    this.#delivering = true
    this.#events.emit('listening')
    // What was announced while nobody listened is gone: look at everything.
    this.#runners.catchUp()
    this.#services.wake()
  }

  #onDown(reason: Error): void {
    this.#delivering = false
    if (!(reason instanceof NotDeliveringError)) this.#watch.failed(reason)
    this.#events.emit('not_listening', reason)
    // Asks the database: it shows at once whether only the listener is lost.
    this.#services.wake()
  }

  #hear(channel: string, payload: string): void {
    if (channel !== CONTROL_CHANNEL) this.#runners.announce(payload)
    else if (payload === 'schedules') this.#services.wake()
    else this.#runners.control(payload)
  }
}
