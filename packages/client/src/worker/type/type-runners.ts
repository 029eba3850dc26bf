import { TypeNotRegisteredError } from '../../errors/database-errors.js'
import { fromDatabaseError } from '../../errors/from-database-error.js'
import { InvalidArgumentError } from '../../errors/invalid-argument-error.js'
import { isTransient } from '../../errors/is-transient.js'
import { named } from '../../options/named.js'
import { optionsOf } from '../../task/check-task.js'
import { Task } from '../../task/task.js'
import { warnUnreachable } from '../warn-unheard.js'
import type { TypeContext } from './type-context.js'
import { TypeRunner } from './type-runner.js'

/** Most tasks of one type at a time in one process. */
const MOST_AT_ONCE = 10_000

/** A runner that was removed and whose handlers haven't ended yet. */
interface Removing {
  readonly key: string
  readonly runner: TypeRunner
  readonly ended: Promise<void>
}

/** The runners of a worker's types, one per table. */
export class TypeRunners {
  readonly #context: TypeContext
  readonly #runners = new Map<string, TypeRunner>()
  /** Of one type there may be several, if it was added and removed again. */
  readonly #removing = new Set<Removing>()
  #started = false
  #stopped = false

  constructor(context: TypeContext) {
    this.#context = context
  }

  [Symbol.iterator](): Iterator<TypeRunner> {
    return this.#runners.values()
  }

  /** @throws InvalidArgumentError unless it is a Task whose table no other one serves, with a number that can be used */
  add(task: Task<never> | Task<object>, concurrency: number): void {
    if (!(task instanceof Task)) {
      optionsOf(task)
      throw new InvalidArgumentError('task', 'must be an instance of a class that extends Task.')
    }
    if (typeof (task as Partial<Task<object>>).run !== 'function') {
      throw new InvalidArgumentError(
        'task',
        `has no method run: ${task.constructor.name} must say what is done with a task.`,
      )
    }
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MOST_AT_ONCE) {
      throw new InvalidArgumentError(
        'concurrency',
        `must be a whole number from 1 to ${MOST_AT_ONCE}, not ${named(concurrency)}.`,
      )
    }
    const key = keyOf(task)
    const present = this.#runners.get(key)
    if (present?.task === task) return
    if (present !== undefined) {
      throw new InvalidArgumentError('task', `has the table ${key}, which another Task of this worker serves.`)
    }
    const runner = new TypeRunner(task as Task<object>, concurrency, this.#context)
    this.#runners.set(key, runner)
    if (this.#started) void this.#startWhenRemoved(key, runner)
  }

  /** Takes no more tasks of this type; resolves when the running ones have ended, or were aborted after the time. */
  async remove(task: Task<never> | Task<object>, timeoutMs: number): Promise<void> {
    const key = keyOf(task)
    const runner = this.#runners.get(key)
    if (runner !== undefined) {
      this.#runners.delete(key)
      if (this.#started) this.#stopRemoved(key, runner, timeoutMs)
    }
    await this.#removed(key)
  }

  /**
   * Looks all types up. One that is missing at the start is a mistake; one that goes missing later is waited for.
   *
   * @throws TypeNotRegisteredError, InvalidOptionError, or the database's error; none while the database can't be reached
   */
  async check(): Promise<void> {
    for (const runner of this) {
      if (this.#stopped) return
      try {
        await runner.describe()
      } catch (raised) {
        const error = fromDatabaseError(raised)
        if (this.#stopped) return
        if (isTransient(error)) {
          warnUnreachable(this.#context, error)
          return
        }
        const code = (error as { code?: unknown }).code
        if (code !== '42883' && code !== '3F000') throw error
        throw new TypeNotRegisteredError(
          'The database has no schema of pg-tasks, or an old one: call migrate(connection) first',
          { cause: error },
        )
      }
    }
  }

  start(): void {
    this.#started = true
    for (const runner of this) runner.start()
  }

  /** Called again, with less time, it hurries. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopped = true
    await Promise.allSettled([...this.#withRemoved()].map((runner) => runner.stop(timeoutMs)))
  }

  wake(): void {
    for (const runner of this) runner.wake()
  }

  /** A commit has enqueued tasks of the table that the payload names; an empty one stands for any. */
  announce(payload: string): void {
    for (const runner of this) if (payload === '' || runner.isAnnouncedBy(payload)) runner.wake()
  }

  /** A running task was canceled or reset: its table's oid and its id. */
  control(payload: string): void {
    const [tableId, id] = payload.split(' ')
    if (tableId === undefined || id === undefined) return
    for (const runner of this.#withRemoved()) runner.control(tableId, id)
  }

  /** Notifications arrive again: what was told meanwhile is learned by asking. */
  catchUp(): void {
    for (const runner of this.#withRemoved()) runner.catchUp()
  }

  /** Those too whose handlers still end. */
  *#withRemoved(): Iterable<TypeRunner> {
    yield* this
    for (const { runner } of this.#removing) yield runner
  }

  #stopRemoved(key: string, runner: TypeRunner, timeoutMs: number): void {
    const removing: Removing = {
      key,
      runner,
      ended: runner.stop(timeoutMs).finally(() => this.#removing.delete(removing)),
    }
    this.#removing.add(removing)
  }

  /** Resolves when no handler of a runner that was removed runs any more. */
  async #removed(key: string): Promise<void> {
    const ended = [...this.#removing].flatMap((one) => (one.key === key ? one.ended : []))
    await Promise.all(ended)
  }

  /** Two runners of one type would take each other's runs for strays. */
  async #startWhenRemoved(key: string, runner: TypeRunner): Promise<void> {
    await this.#removed(key)
    if (!this.#stopped && this.#runners.get(key) === runner) runner.start()
  }
}

function keyOf(task: Task<never> | Task<object>): string {
  const { schema, table } = optionsOf(task)
  return `${schema}.${table}`
}
