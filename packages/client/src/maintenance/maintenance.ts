import { type Maintained, maintain, type Queryable } from '@pg-tasks/sql'
import { describeThrown } from '../errors/describe-thrown.js'
import type { FailureLog } from '../logger/failure-log.js'
import type { Logger } from '../logger/logger.js'
import { sleep } from '../timers/sleep.js'

/** Most rows in one call, so that none holds its locks for long. */
const MOST_ROWS = 1_000

/** Fewer where rows are slow to delete: a call that takes too long is undone as a whole. */
const FEWEST_ROWS = 10

/** Between two calls while there is more to delete, in milliseconds: acquire goes first. */
const PAUSE_MS = 50

/** A session that is opened for one pass. */
export interface MaintenanceSession extends Queryable {
  close(): Promise<void>
}

export interface MaintenanceOptions {
  /** Between two passes, in milliseconds ± 50 %. */
  readonly intervalMs: number
  /** One of its own: on a session that something else needs, a slow pass would be in the way. */
  readonly open: () => MaintenanceSession
  readonly logger: Logger
  readonly failures: FailureLog
  readonly onMaintained: (maintained: Maintained) => void
}

/**
 * Deletes now and then what is past its time: ended tasks, old occurrences, orphaned marks, dead leases. Of several workers one
 * does it at a time; the others find the lock taken.
 */
export class Maintenance {
  readonly #options: MaintenanceOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** What was kept and why, so that it is said once, and again when the reason is another. */
  readonly #keptBecause = new Map<string, string | null>()
  #rows = MOST_ROWS

  constructor(options: MaintenanceOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { intervalMs, failures } = this.#options
    // Not at the start: many workers may start at once, after a deploy.
    while ((await sleep(intervalMs * (0.5 + Math.random()), { signal })) !== 'aborted') {
      const session = this.#options.open()
      // A call that is under way when the worker stops is undone, and done another time.
      const close = (): void => void session.close()
      signal.addEventListener('abort', close, { once: true })
      try {
        await this.#pass(session)
        failures.recovered('maintenance', 'Maintenance works again')
      } catch (error) {
        if (signal.aborted) return
        this.#rows = Math.max(FEWEST_ROWS, Math.floor(this.#rows / 10))
        failures.failed('maintenance', { error: describeThrown(error) }, 'Maintenance failed; trying again later')
      } finally {
        signal.removeEventListener('abort', close)
        await session.close()
      }
    }
  }

  async #pass(session: Queryable): Promise<void> {
    const { signal } = this.#stopping
    for (let more = true; more && !signal.aborted; ) {
      const rows = this.#rows
      const maintained = await maintain(session, rows)
      for (const one of maintained) this.#report(one)
      more = maintained.reduce((sum, one) => sum + one.deleted, 0) >= rows
      this.#rows = Math.min(MOST_ROWS, rows * 2)
      if (more) await sleep(PAUSE_MS, { signal })
    }
  }

  #report(maintained: Maintained): void {
    const { what, kept, reason } = maintained
    if (reason !== null && this.#keptBecause.get(what) !== reason) {
      this.#options.logger.warn({ what, kept, reason }, 'Tasks past their storage_time can not be deleted')
    }
    this.#keptBecause.set(what, reason)
    this.#options.onMaintained(maintained)
  }
}
