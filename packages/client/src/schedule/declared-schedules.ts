import { type NewSchedule, type Queryable, removeUndeclaredSchedules, upsertSchedule } from '@pg-tasks/sql'
import { Backoff } from '../backoff/backoff.js'
import { describeThrown } from '../errors/describe-thrown.js'
import { fromDatabaseError } from '../errors/from-database-error.js'
import { isTransient } from '../errors/is-transient.js'
import type { FailureLog } from '../logger/failure-log.js'
import { sleep } from '../timers/sleep.js'

/** Schedules that a worker's code declares: written at its start, and whenever one is declared later. */
export class DeclaredSchedules {
  readonly #session: Queryable
  readonly #failures: FailureLog
  readonly #onRefused: (schedule: { readonly key: string; readonly error: string }) => void
  readonly #schedules = new Map<string, NewSchedule>()
  readonly #prefixes = new Set<string>()
  readonly #stopping = new AbortController()
  #started = false

  constructor(
    session: Queryable,
    failures: FailureLog,
    onRefused: (schedule: { readonly key: string; readonly error: string }) => void,
  ) {
    this.#session = session
    this.#failures = failures
    this.#onRefused = onRefused
  }

  /** The last declaration of a key counts. */
  declare(schedule: NewSchedule): void {
    this.#schedules.set(schedule.key, schedule)
    if (!this.#started) return
    this.#write(schedule).catch((error: unknown) => {
      this.#onRefused({ key: schedule.key, error: describeThrown(error) })
    })
  }

  /** At the start, others that begin with this and were declared by code go. */
  removeUndeclared(keyPrefix: string): void {
    this.#prefixes.add(keyPrefix)
  }

  /**
   * Writes all; while the database is away it keeps trying.
   *
   * @throws what makes the database refuse one
   */
  async start(): Promise<void> {
    this.#started = true
    for (const schedule of this.#schedules.values()) await this.#write(schedule)
    for (const prefix of this.#prefixes) {
      await this.#untilDone(() => removeUndeclaredSchedules(this.#session, [...this.#schedules.keys()], prefix))
    }
  }

  stop(): void {
    this.#stopping.abort()
  }

  async #write(schedule: NewSchedule): Promise<void> {
    await this.#untilDone(async () => {
      // Meanwhile it may have been declared anew.
      if (this.#schedules.get(schedule.key) === schedule) await upsertSchedule(this.#session, schedule)
    })
  }

  async #untilDone(work: () => Promise<unknown>): Promise<void> {
    const backoff = new Backoff({ baseMs: 200, maxMs: 5_000 })
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await work()
        this.#failures.recovered('declared schedules', 'Schedules are written again')
        return
      } catch (raised) {
        if (signal.aborted) return
        const error = fromDatabaseError(raised)
        if (!isTransient(error)) throw error
        this.#failures.failed(
          'declared schedules',
          { error: describeThrown(error) },
          'A schedule could not be written; trying again',
        )
        await sleep(backoff.next(), { signal })
      }
    }
  }
}
