import { type Deleted, maintain, type Queryable } from '@pg-tasks/sql'
import { describeThrown } from '../errors/describe-thrown.js'
import type { FailureLog } from '../logger/failure-log.js'
import { sleep } from '../timers/sleep.js'

/** Most rows of each kind in one call, so that none holds its locks for long. */
const ROWS_PER_CALL = 1_000

/** Between two calls while there is more to delete, in milliseconds: acquire goes first. */
const PAUSE_MS = 50

/**
 * Deletes now and then what is past its time: ended tasks, old occurrences, orphaned marks. Of several workers one does it at
 * a time; the others find the lock taken.
 */
export class Maintenance {
  readonly #session: Queryable
  readonly #intervalMs: number
  readonly #failures: FailureLog
  readonly #onDeleted: (deleted: Deleted) => void
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(session: Queryable, intervalMs: number, failures: FailureLog, onDeleted: (deleted: Deleted) => void) {
    this.#session = session
    this.#intervalMs = intervalMs
    this.#failures = failures
    this.#onDeleted = onDeleted
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
    // Not at the start: many workers may start at once, after a deploy.
    while ((await sleep(this.#intervalMs * (0.5 + Math.random()), { signal })) !== 'aborted') {
      try {
        for (let more = true; more && !signal.aborted; ) {
          const deleted = await maintain(this.#session, ROWS_PER_CALL)
          for (const one of deleted) this.#onDeleted(one)
          more = deleted.some((one) => one.deleted >= ROWS_PER_CALL)
          if (more) await sleep(PAUSE_MS, { signal })
        }
        this.#failures.recovered('maintenance', 'Maintenance works again')
      } catch (error) {
        this.#failures.failed('maintenance', { error: describeThrown(error) }, 'Maintenance failed; trying again later')
      }
    }
  }
}
