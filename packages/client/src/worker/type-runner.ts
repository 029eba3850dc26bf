import { acquire, describeType, type NextDue, nextDue, refreshType, rescue, type TypeDescription } from '@pg-tasks/sql'
import { Backoff } from '../backoff/backoff.js'
import { TypeNotRegisteredError } from '../errors/database-errors.js'
import { describeThrown } from '../errors/describe-thrown.js'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { isTransient } from '../errors/is-transient.js'
import { WorkerStoppingError } from '../errors/run-errors.js'
import type { Claimed } from '../task/claimed.js'
import { type Task, withTextId } from '../task/task.js'
import { Gate } from '../timers/gate.js'
import { sleep } from '../timers/sleep.js'
import { Heart } from './heart.js'
import { Sleeper } from './sleeper.js'
import { Slots } from './slots.js'
import { type TypeContext, typeReference } from './type-context.js'
import { heartbeatIntervalOf } from './worker-options.js'

/** A worker without room promises nothing any more after this time, in milliseconds. */
const STAND_DOWN_MS = 1_000

/** How long `stop` waits for an acquire that is under way, in milliseconds. */
const LAST_TURN_MS = 5_000

/** SQLSTATEs that say that the table or its functions are not where they were: renamed, dropped, unregistered, re-created. */
const MOVED = /^(42P01|42883|3F000|0A000|42704|XX000)$/

/** Looks after one task type: acquires while there is room, sleeps while there is nothing, and mends what breaks. */
export class TypeRunner {
  readonly task: Task<object>
  readonly #context: TypeContext
  readonly #gate = new Gate()
  readonly #stopping = new AbortController()
  readonly #sleeper: Sleeper
  readonly #slots: Slots
  readonly #heart: Heart
  readonly #errors = new Backoff({ baseMs: 200, maxMs: 5_000 })
  /** For due rows that can't be taken: locked, or kept back by a trigger. */
  readonly #untakable: Backoff
  #type: TypeDescription | undefined
  #loop: Promise<void> = Promise.resolve()
  #fullRounds = 0
  #emptyWakes = 0
  #waitingForRoom = false
  #draining = false
  #rescueDue = true
  #lastRescueAt = Number.NEGATIVE_INFINITY
  #lastAcquireAt: Date | undefined
  #refreshed = false

  constructor(task: Task<object>, concurrency: number, context: TypeContext) {
    this.task = task
    this.#context = context
    this.#untakable = new Backoff({ baseMs: 10, maxMs: Math.min(5_000, context.options.pollIntervalMs) })
    this.#sleeper = new Sleeper(context.control, context.listening)
    this.#slots = new Slots(task, concurrency, context, () => this.#known(), {
      onRoom: () => {
        if (this.#waitingForRoom) this.#gate.wake()
      },
    })
    this.#heart = new Heart(
      context,
      () => this.#known(),
      () => heartbeatIntervalOf(context.options, task.options.table, this.#known().timeoutMs),
      {
        held: () => this.#slots.held(),
        holds: (id) => this.#slots.holds(id),
        onGone: (id, token, reason) => this.#slots.gone(id, token, reason),
        onRescueDue: () => {
          this.#rescueDue = true
          this.#gate.wake()
        },
        onSuspectDue: () => {
          this.#draining = true
          this.#gate.wake()
        },
      },
    )
  }

  /** What is known of itself, for health. */
  get status() {
    const { schema, table } = this.#type ?? this.task.options
    return Object.freeze({
      schema,
      table,
      registered: this.#type !== undefined,
      asleep: this.#sleeper.asleep,
      running: this.#slots.running,
      queued: this.#slots.queued,
      unsettled: this.#slots.unsettled,
      lastAcquireAt: this.#lastAcquireAt,
    })
  }

  /**
   * Looks the type up.
   *
   * @throws TypeNotRegisteredError, or the database's error
   */
  async describe(): Promise<void> {
    const { schema, table } = this.task.options
    const type = await describeType(this.#context.control, schema, table)
    if (type === undefined) {
      throw new TypeNotRegisteredError(
        `The table ${schema}.${table} is not a registered task type: select tasks.register('${schema}', '${table}')`,
      )
    }
    heartbeatIntervalOf(this.#context.options, table, type.timeoutMs)
    this.#type = type
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** A notification, a reconnect, or any other reason to look. */
  wake(): void {
    this.#gate.wake()
  }

  /** Whether a notification's payload names this type. */
  isAnnouncedBy(payload: string): boolean {
    const { schema, table } = this.#type ?? this.task.options
    return payload === `${schema}.${table}`
  }

  /** A task of some type was canceled or reset while it ran. */
  control(tableId: string, id: string): void {
    if (this.#type?.tableId === tableId && this.#slots.holds(id)) void this.#heart.beat()
  }

  /** Lets running handlers end, then aborts them, and gives back what was not started. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort()
    this.#gate.wake()
    await Promise.race([this.#loop, sleep(LAST_TURN_MS, { unref: true })])
    await this.#slots.releaseQueued()
    if (!(await this.#slots.idleWithin(timeoutMs))) {
      this.#slots.abortAll(new WorkerStoppingError())
      await this.#slots.idleWithin(this.#context.options.abortGraceMs)
    }
    await this.#slots.settled(Math.max(timeoutMs, 1_000))
    await this.#heart.stop()
    if (this.#type !== undefined) await this.#sleeper.end(this.#type).catch(() => {})
  }

  #known(): TypeDescription {
    if (this.#type === undefined) throw new TypeNotRegisteredError(`${this.task.options.table} is not known yet`)
    return this.#type
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        if (this.#type === undefined) await this.describe()
        await this.#turn()
        this.#errors.reset()
        this.#context.failures.recovered(this.#failureKind, 'Tasks are acquired again')
      } catch (error) {
        await this.#onFailure(fromDatabaseError(error))
      }
    }
  }

  async #turn(): Promise<void> {
    const type = this.#known()
    if (this.#rescueDue) await this.#rescue(type)
    if (this.#draining && this.#slots.empty) this.#draining = false
    const room = this.#draining ? 0 : this.#slots.room
    if (room === 0) {
      await this.#waitForRoom(type)
      return
    }
    const woken = this.#gate.consume()
    const count = await this.#acquire(type, room)
    if (count >= room) {
      this.#fullRounds += 1
      if (this.#fullRounds >= 2) await this.#sleeper.stayAwake(type)
      return
    }
    this.#fullRounds = 0
    this.#emptyWakes = woken && count === 0 ? Math.min(this.#emptyWakes + 1, 5) : 0
    await this.#idle(type)
  }

  async #acquire(type: TypeDescription, maxNum: number): Promise<number> {
    let rows: Claimed[]
    try {
      const { workerId, control } = this.#context
      rows = await acquire<Claimed>(control, type, { maxNum, workerId, slotsEmpty: this.#slots.empty })
    } catch (error) {
      if (isTransient(error)) this.#heart.searchStrays()
      throw error
    }
    this.#lastAcquireAt = new Date()
    if (rows.length === 0) return 0
    this.#untakable.reset()
    this.#heart.start()
    if (this.#context.events.listenerCount('acquired') > 0) {
      this.#context.events.emit('acquired', { ...typeReference(type), count: rows.length })
    }
    this.#slots.add(rows.map(withTextId))
    if (this.#stopping.signal.aborted) await this.#slots.releaseQueued()
    return rows.length
  }

  /** Full: the end of a handler wakes. */
  async #waitForRoom(type: TypeDescription): Promise<void> {
    const { signal } = this.#stopping
    this.#waitingForRoom = true
    try {
      if ((await this.#gate.wait(STAND_DOWN_MS, { signal })) !== 'elapsed') return
      await this.#sleeper.standDown(type)
      await this.#gate.wait(Number.POSITIVE_INFINITY, { signal })
    } finally {
      this.#waitingForRoom = false
    }
  }

  /** Nothing more was to be had: sleeps until something is due or a commit notifies. */
  async #idle(type: TypeDescription): Promise<void> {
    const { signal } = this.#stopping
    const step = await this.#sleeper.step(type)
    if (step.kind === 'look') return
    if (step.kind === 'wait') {
      await this.#gate.wait(step.delayMs, { signal })
      return
    }
    const due = await nextDue(this.#context.control, type, {
      workerId: this.#context.workerId,
      slotsEmpty: this.#slots.empty,
    })
    const delayMs = this.#sleepTime(type, due)
    if (this.#emptyWakes > 1) await sleep(Math.min(10 * this.#emptyWakes, delayMs), { signal })
    await this.#gate.wait(delayMs, { signal })
  }

  #sleepTime(type: TypeDescription, due: NextDue): number {
    const { pollIntervalMs } = this.#context.options
    let delayMs = pollIntervalMs * (0.9 + 0.2 * Math.random())
    if (due.readyInMs !== null) {
      delayMs = Math.min(delayMs, due.readyInMs > 0 ? Math.ceil(due.readyInMs) : this.#untakable.next())
    }
    if (due.sweepInMs !== null) delayMs = Math.min(delayMs, Math.max(due.sweepInMs, 1))
    if (due.rescueInMs !== null) {
      const earliest = this.#lastRescueAt + (type.timeoutMs ?? 60_000) / 4 - performance.now()
      const inMs = Math.max(due.rescueInMs, earliest, 0)
      // All idle workers learn of the same end; the first one rescues, the others find nothing.
      if (inMs < delayMs) {
        delayMs = inMs + 20 * Math.random()
        this.#rescueDue = true
      }
    }
    return delayMs
  }

  /** At most every quarter of a lease. */
  async #rescue(type: TypeDescription): Promise<void> {
    const now = performance.now()
    if (now < this.#lastRescueAt + (type.timeoutMs ?? 60_000) / 4) return
    this.#rescueDue = false
    this.#lastRescueAt = now
    const count = await rescue(this.#context.control, type)
    if (count === 0) return
    this.#context.logger.warn({ ...typeReference(type), count }, 'Tasks of dead workers were brought back')
    this.#context.events.emit('rescued', { ...typeReference(type), count })
  }

  get #failureKind(): string {
    return `acquire ${this.task.options.schema}.${this.task.options.table}`
  }

  async #onFailure(error: unknown): Promise<void> {
    const type = this.#type
    const code = String((error as { code?: unknown }).code ?? '')
    if (type !== undefined && (MOVED.test(code) || error instanceof TypeNotRegisteredError)) {
      // Renamed: the functions follow. Gone: look it up anew, it may be re-created.
      if (!this.#refreshed && (await refreshType(this.#context.control, type.tableId).catch(() => false))) {
        this.#refreshed = true
        this.#context.logger.warn({ ...typeReference(type) }, 'The functions of a task type follow its renamed table')
        await this.#relearn(type)
        return
      }
      if (!this.#slots.holdsAny) this.#type = undefined
    }
    this.#refreshed = false
    this.#context.failures.failed(
      this.#failureKind,
      { ...typeReference(this.task.options), error: describeThrown(error) },
      'Tasks could not be acquired; trying again',
    )
    this.#context.events.emit('error', error, typeReference(this.task.options))
    await sleep(this.#errors.next(), { signal: this.#stopping.signal })
  }

  async #relearn(type: TypeDescription): Promise<void> {
    const { schema, table } = this.task.options
    this.#type = (await describeType(this.#context.control, schema, table).catch(() => undefined)) ?? type
  }
}
