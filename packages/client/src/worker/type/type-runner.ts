import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TypeDescription } from '@pg-tasks/sql'
import { Backoff } from '../../backoff/backoff.js'
import { ConnectionLostError, isClosing } from '../../errors/connection-errors.js'
import { TypeNotRegisteredError } from '../../errors/database-errors.js'
import { describeThrown } from '../../errors/describe-thrown.js'
import { fromDatabaseError } from '../../errors/from-database-error.js'
import { WorkerStoppingError } from '../../errors/run-errors.js'
import type { Claimed } from '../../task/claimed.js'
import { type Task, withTextId } from '../../task/task.js'
import { sleep } from '../../timers/sleep.js'
import { AcquireLog } from '../acquire/acquire-log.js'
import { acquireRows } from '../acquire/acquire-rows.js'
import { Pace } from '../acquire/pace.js'
import { Rescuer } from '../acquire/rescuer.js'
import { traceAcquire } from '../acquire/trace-acquire.js'
import { BatchRunner, singly } from '../one-transaction/batch-runner.js'
import { runHandler } from '../run/run-handler.js'
import { Slots } from '../run/slots.js'
import { hasMoved } from '../settle/failure-kind.js'
import type { TypeHealth } from '../worker-health.js'
import { checkHeartbeatInterval, heartbeatIntervalOf } from '../worker-options.js'
import { checkColumns } from './check-columns.js'
import { Heart, now } from './heart.js'
import { KnownType } from './known-type.js'
import { type TypeContext, typeReference } from './type-context.js'

/** How long `stop` waits for an acquire that is under way, in milliseconds. */
const LAST_TURN_MS = 3_000

/** How long `stop` waits for its last statements, in milliseconds. */
const LAST_WORDS_MS = 1_000

/** Looks after one task type: acquires while there is room, sleeps while there is nothing, and mends what breaks. */
export class TypeRunner {
  readonly task: Task<object>
  readonly #context: TypeContext
  readonly #stopping = new AbortController()
  readonly #hurrying = new AbortController()
  readonly #type: KnownType
  readonly #pace: Pace
  readonly #rescuer: Rescuer
  readonly #slots: Slots
  /** Where tasks are run and settled in one transaction. */
  readonly #batches: BatchRunner | undefined
  readonly #heart: Heart
  readonly #errors = new Backoff({ baseMs: 200, maxMs: 5_000 })
  #loop: Promise<void> | undefined
  #ended: Promise<void> | undefined
  #draining = false
  readonly #acquires = new AcquireLog()
  /** The heart's last error, if it may have moved. */
  #moved: unknown

  constructor(task: Task<object>, concurrency: number, context: TypeContext) {
    this.task = task
    this.#context = context
    this.#type = new KnownType(context, task.options)
    this.#rescuer = new Rescuer(context)
    this.#pace = new Pace({
      context,
      type: this.#type,
      rescuer: this.#rescuer,
      slotsEmpty: () => this.#slots.empty,
      stopping: this.#stopping.signal,
    })
    const type = (): TypeDescription => this.#type.current
    const inOne = task.options.settle === 'one_transaction'
    if (inOne) {
      const onAcquired = (rows: readonly Claimed[]) => {
        this.#acquires.succeeded(rows)
        this.#pace.acquired()
      }
      this.#batches = new BatchRunner(task, concurrency, context, type, { onAcquired })
    }
    this.#slots = new Slots(task, inOne ? 1 : concurrency, inOne ? singly(context) : context, type, {
      onRoom: () => this.#pace.wakeForRoom(),
      call: (run) => this.#batches?.alone(run, type()) ?? runHandler(context, type(), task, run),
      leaseOverdue: () => {
        if (!this.#heart.overdue) return false
        void this.#heart.beat()
        return true
      },
    })
    this.#heart = new Heart(context, type, () => heartbeatIntervalOf(context.options, type().timeoutMs), {
      held: () => this.#slots.held(),
      holds: (id) => this.#slots.holds(id),
      onGone: (id, token, reason) => this.#slots.gone(id, token, reason),
      onTick: () => this.#slots.releaseStale(),
      onBeat: () => {
        this.#slots.goOn()
        return this.#type.relearn(context.beating)
      },
      onRescueDue: () => {
        this.#rescuer.hurry()
        this.#pace.wake()
      },
      onSuspectDue: () => {
        this.#draining = true
        this.#pace.wake()
      },
      onFailed: (error) => {
        if (!hasMoved(error)) return
        this.#moved = error
        this.#pace.wake()
      },
      onIdle: () => this.#pace.wake(),
    })
  }

  /** What is known of itself, for health. */
  get health(): TypeHealth {
    const { known, name } = this.#type
    return Object.freeze({
      schema: name.schema,
      table: name.table,
      registered: known,
      error: this.#acquires.error,
      rowSecurity: known && this.#type.current.rowSecurity,
      asleep: this.#pace.asleep,
      running: this.#slots.running + (this.#batches?.running ?? 0),
      queued: this.#slots.queued,
      unsettled: this.#slots.unsettled,
      lease: this.#heart.lease,
      lastAcquireAt: this.#acquires.lastAt,
      lagMs: this.#acquires.lagMs,
    })
  }

  /**
   * Looks the type up, and whether the worker's options go with it.
   *
   * @throws TypeNotRegisteredError, TableShapeError, InvalidOptionError, or the database's error
   */
  async describe(): Promise<void> {
    await this.#type.learn(this.#context.control)
    await checkColumns(this.#context.control, this.#type.current, this.task.options.columns)
    const { table, timeoutMs } = this.#type.current
    checkHeartbeatInterval(this.#context.options, table, timeoutMs)
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  /** A notification, a reconnect, or any other reason to look. */
  wake(): void {
    this.#pace.wake()
  }

  /** Notifications arrive again: what was told meanwhile, tasks that were canceled too, is learned by asking. */
  catchUp(): void {
    this.#pace.wake()
    if (this.#type.known && this.#slots.holdsAny) void this.#heart.beat()
  }

  /** Whether a notification's payload names this type. */
  isAnnouncedBy(payload: string): boolean {
    const { schema, table } = this.#type.name
    return payload === `${schema}.${table}`
  }

  /** A task of some type was canceled or reset while it ran. */
  control(tableId: string, id: string): void {
    if (this.#type.known && this.#type.current.tableId === tableId && this.#slots.holds(id)) void this.#heart.beat()
  }

  /**
   * Gives back what was not started and lets running handlers end; aborts them after the time. Called again with less time, it
   * hurries.
   */
  stop(timeoutMs: number): Promise<void> {
    if (this.#ended === undefined) this.#ended = this.#stop(timeoutMs)
    else void sleep(timeoutMs, { unref: true }).then(() => this.#hurrying.abort())
    return this.#ended
  }

  async #stop(timeoutMs: number): Promise<void> {
    const { control } = this.#context
    this.#stopping.abort()
    this.#pace.wake()
    this.#slots.close()
    const lastBatch = this.#batches?.stop(timeoutMs, this.#hurrying.signal)
    // Without a session no acquire is under way, only an attempt to connect.
    const lastTurn = Promise.race([this.#loop, sleep(control.session === 0 ? 0 : LAST_TURN_MS, { unref: true })])
    if (!(await this.#slots.idleWithin(timeoutMs, { signal: this.#hurrying.signal }))) {
      await this.#slots.abortAll(new WorkerStoppingError())
    }
    await Promise.all([lastTurn, lastBatch])
    await this.#slots.settled(Math.max(timeoutMs, LAST_WORDS_MS))
    await this.#heart.stop()
    await this.#batches?.close()
    await Promise.race([this.#leave(), sleep(LAST_WORDS_MS, { unref: true })])
  }

  /** Leaves neither lease nor locks behind on sessions that may live on. */
  async #leave(): Promise<void> {
    const { control } = this.#context
    if (!this.#type.known || control.session === 0) return
    if (this.#heart.idle && !this.#slots.holdsAny) await this.#heart.close(control)
    await this.#pace.end().catch(() => {})
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        if (!this.#type.known) await this.#type.learn(this.#context.control)
        await this.#turn()
        this.#errors.reset()
        this.#type.worked()
        this.#context.failures.recovered(this.#failureKind, 'Tasks are acquired again')
      } catch (error) {
        await this.#onFailure(fromDatabaseError(error))
      }
    }
  }

  async #turn(): Promise<void> {
    const moved = this.#moved
    this.#moved = undefined
    if (moved !== undefined) await this.#type.mend(moved)
    const type = this.#type.current
    if (this.#heart.idle && !this.#slots.holdsAny) await this.#heart.close(this.#context.control)
    await this.#rescuer.rescueIfDue(type)
    if (this.#draining && this.#slots.empty) this.#draining = false
    // Handlers that end in the same turn are finished, and their slots filled, by one statement. And a rejection that one has left
    // behind ends the process in this turn: its task must not be finished then.
    if (this.#slots.finishing.pending) await nextTurn()
    const room = this.#draining ? 0 : this.#slots.room
    if (room === 0) {
      await this.#pace.waitForRoom()
      return
    }
    this.#pace.begin()
    // Nothing is awaited before an acquire that finishes tasks: no handler ends between the turn that was waited for and it.
    const batched = this.#batches === undefined ? undefined : await this.#runBatch(this.#batches, type)
    const count = batched ?? (await this.#acquire(type, room))
    await this.#pace.goOn(type, count, room)
  }

  /** Undefined where it is time to look for tasks that run singly. */
  async #runBatch(batches: BatchRunner, type: TypeDescription): Promise<number | undefined> {
    return this.#pace.waitForBatch(batches.run(type, this.#slots.empty, this.#pace.slept))
  }

  async #acquire(type: TypeDescription, maxNum: number): Promise<number> {
    let rows: Claimed[]
    const asked = now()
    try {
      const { workerId } = this.#context
      rows = await traceAcquire({ workerId, ...typeReference(type), maxNum, slept: this.#pace.slept }, () =>
        acquireRows(this.#context, type, this.#slots, maxNum),
      )
    } catch (error) {
      if (error instanceof ConnectionLostError && error.mayHaveRun) this.#heart.searchStrays()
      throw error
    }
    this.#acquires.succeeded(rows)
    this.#batches?.tookSingly(rows.length)
    if (rows.length === 0) return 0
    this.#pace.acquired()
    this.#heart.start(asked)
    if (this.#context.events.listenerCount('acquired') > 0) {
      this.#context.events.emit('acquired', { ...typeReference(type), count: rows.length })
    }
    this.#slots.add(rows.map(withTextId))
    return rows.length
  }

  get #failureKind(): string {
    return `acquire ${this.task.options.schema}.${this.task.options.table}`
  }

  async #onFailure(error: unknown): Promise<void> {
    // At the end the worker closes its connections itself.
    if (this.#stopping.signal.aborted && isClosing(error)) return
    if (await this.#type.mend(error)) return
    // Gone: it may be made anew, as another table.
    if ((hasMoved(error) || error instanceof TypeNotRegisteredError) && !this.#slots.holdsAny) this.#type.forget()
    this.#type.worked()
    this.#acquires.failed(error)
    this.#context.failures.failed(
      this.#failureKind,
      { ...typeReference(this.task.options), error: describeThrown(error) },
      'Tasks could not be acquired; trying again',
    )
    this.#context.events.emit('error', error, typeReference(this.task.options))
    await sleep(this.#errors.next(), { signal: this.#stopping.signal })
  }
}
