import { backoffDelay } from '../../backoff/backoff.js'
import { fromDatabaseError } from '../../errors/from-database-error.js'
import { isOutcomeRefused } from '../../errors/is-outcome-refused.js'
import { WorkerStoppingError } from '../../errors/run-errors.js'
import { sleep } from '../../timers/sleep.js'
import { failureKind } from './failure-kind.js'
import type { OutcomeReport } from './outcome-report.js'

export const RETRY_WAIT = { baseMs: 50, maxMs: 5_000 }
/** For errors that somebody has to mend: revoked rights, a trigger that refuses. */
export const MENDING_WAIT = { baseMs: 500, maxMs: 10_000 }

/** With which a settler writes outcomes: until they are written, or it gives up at its worker's end. */
export class Patience {
  readonly #report: OutcomeReport
  readonly #abandoned = new AbortController()

  constructor(report: OutcomeReport) {
    this.#report = report
  }

  /** Nothing is tried any more. */
  end(): void {
    this.#abandoned.abort()
  }

  /**
   * Repeats a write through everything that passes by itself; other errors of the database's are repeated more slowly.
   *
   * @param write - is told how the last attempt failed
   * @throws TaskNotRunningError, TaskNotFoundError; WorkerStoppingError once it has ended
   */
  async untilWritten<Value>(write: (failure: unknown) => Promise<Value>): Promise<Value> {
    let failure: unknown
    for (let failures = 1; ; failures += 1) {
      try {
        const value = await write(failure)
        this.#report.recovered('settle', 'Outcomes are written again')
        return value
      } catch (raised) {
        failure = raised
        const error = fromDatabaseError(raised)
        if (isOutcomeRefused(error)) throw error
        this.#report.failure('settle', error, 'An outcome could not be written; trying again')
        const kind = failureKind(raised)
        await this.pause(backoffDelay(failures, kind === 'server' || kind === 'moment' ? RETRY_WAIT : MENDING_WAIT))
      }
    }
  }

  /** @throws WorkerStoppingError once it has ended */
  async pause(delayMs: number): Promise<void> {
    const { signal } = this.#abandoned
    await sleep(delayMs, { signal })
    if (signal.aborted) throw new WorkerStoppingError()
  }
}
