import {
  committedTransactions,
  finishMany,
  type GoneReason,
  heartbeat,
  releaseFree,
  type TypeDescription,
  type UnfinishedRun,
} from '@pg-tasks/sql'
import { backoffDelay } from '../../backoff/backoff.js'
import { describeThrown } from '../../errors/describe-thrown.js'
import { isOutcomeRefused } from '../../errors/is-outcome-refused.js'
import { WorkerStoppingError } from '../../errors/run-errors.js'
import { startTimer } from '../../timers/start-timer.js'
import { wait } from '../../timers/wait.js'
import type { ActiveRun } from '../run/active-run.js'
import { type TypeContext, typeReference } from '../type/type-context.js'
import { failureKind } from './failure-kind.js'
import type { LentRuns } from './lent-runs.js'
import { isOwnDoing, type Outcome, type SingleOutcome } from './outcome.js'
import { OutcomeReport } from './outcome-report.js'
import { MENDING_WAIT, Patience, RETRY_WAIT } from './patience.js'
import { takeBatch } from './take-batch.js'
import { writeOutcome } from './write-outcome.js'

/** Most runs that are finished with the next acquire; more of them are finished meanwhile, on another connection. */
const MOST_LENT = 10

/**
 * How long runs that their handler settled are gathered before the database is asked about them, in milliseconds: nothing waits
 * for the answer, and one by one they would cost a statement each.
 */
const GATHER_MS = 20

interface Look {
  readonly run: ActiveRun
  /** What is done where nothing was committed. */
  readonly otherwise: SingleOutcome
  /** Whether that was tried, and the database said that the task is this run's no more. */
  readonly refused: boolean
}

/**
 * Brings outcomes to the database: finishes in batches, the rest one by one, each in a fresh transaction. An outcome that
 * can't be written yet is tried again until it is written or the task is no longer this run's; until then the run is held,
 * because the worker's lease covers it. No outcome waits for another one's row.
 */
export class Settler implements LentRuns {
  readonly #context: TypeContext
  readonly #type: () => TypeDescription
  readonly #onSettled: (run: ActiveRun) => void
  readonly #report: OutcomeReport
  readonly #patience: Patience
  #finishing: ActiveRun[] = []
  #looking: Look[] = []
  #flushing = false
  #gathering = false
  #failures = 0
  #unsettled = 0
  #onDrained: () => void = () => {}

  constructor(context: TypeContext, type: () => TypeDescription, onSettled: (run: ActiveRun) => void) {
    this.#context = context
    this.#type = type
    this.#onSettled = onSettled
    this.#report = new OutcomeReport(context, type)
    this.#patience = new Patience(this.#report)
  }

  /** Runs whose handler has ended and whose outcome isn't written yet. */
  get unsettled(): number {
    return this.#unsettled
  }

  settle(run: ActiveRun, outcome: Outcome): void {
    this.#unsettled += 1
    switch (outcome.kind) {
      case 'finish':
        this.#finishing.push(run)
        this.#flush()
        return
      case 'look':
        this.#looking.push({ run, otherwise: outcome.otherwise, refused: false })
        this.#lookSoon()
        return
      case 'retry':
      case 'cancel':
      case 'release':
        void this.#settleAlone(run, outcome)
    }
  }

  get pending(): boolean {
    return this.#finishing.length > 0
  }

  lend(): ActiveRun[] {
    const { length } = this.#finishing
    // What could not be written before shall be in nobody's way.
    if (length === 0 || length > MOST_LENT || this.#failures > 0) return []
    if (this.#finishing.some((run) => run.failures > 0)) return []
    return takeBatch(this.#finishing, (run) => run.id)
  }

  repay(runs: readonly ActiveRun[], unfinished: readonly UnfinishedRun[]): void {
    this.#sortOut(runs, unfinished)
  }

  takeBack(runs: readonly ActiveRun[]): void {
    for (const run of runs) run.failures += 1
    this.#finishing.unshift(...runs)
    this.#flush()
  }

  /** Gives runs back that were not started: in one statement all but those whose row is locked, or refuses it. */
  release(runs: readonly ActiveRun[]): void {
    if (runs.length === 0) return
    this.#unsettled += runs.length
    void this.#orAbandoned(async () => {
      const { settling } = this.#context
      const released = await this.#patience.untilWritten(async (failure) => {
        const refused = failure !== undefined && /^(row|moment)$/.test(failureKind(failure))
        return new Set(refused ? [] : await releaseFree(settling, this.#type(), runs))
      })
      for (const run of runs) {
        if (released.has(run.id)) {
          this.#report.released(run)
          this.#done(run)
        } else void this.#settleAlone(run, { kind: 'release' })
      }
    })
  }

  /** Waits until every outcome is written, at most for the time; then no more is tried, and leases bring those tasks back. */
  async drain(timeoutMs: number): Promise<void> {
    if (this.#unsettled > 0) {
      await wait<'drained'>(timeoutMs, {}, (end) => {
        this.#onDrained = () => end('drained')
      })
    }
    this.#patience.end()
  }

  /** Several handlers that end in the same turn share a statement; before it, whoever acquires may take them along. */
  #flush(): void {
    if (this.#flushing) return
    this.#flushing = true
    inTheTurnAfterNext(() => {
      void this.#orAbandoned(async () => {
        try {
          while (this.#finishing.length > 0) await this.#finishBatch(takeBatch(this.#finishing, (run) => run.id))
        } finally {
          // In the same turn as the last look: what a handler that ends right after it adds would wait for the next one.
          this.#flushing = false
        }
      })
    })
  }

  #lookSoon(): void {
    if (this.#gathering) return
    this.#gathering = true
    startTimer(GATHER_MS, () => {
      void this.#orAbandoned(async () => {
        try {
          while (this.#looking.length > 0) await this.#look(takeBatch(this.#looking, ({ run }) => run.id))
        } finally {
          this.#gathering = false
        }
      })
    })
  }

  async #finishBatch(runs: readonly ActiveRun[]): Promise<void> {
    try {
      const left = await finishMany(this.#context.settling, this.#type(), runs)
      this.#report.recovered('finish', 'Tasks are finished again')
      this.#failures = 0
      this.#sortOut(runs, left)
    } catch (error) {
      const kind = failureKind(error)
      const [first] = runs
      if (kind === 'server' || kind === 'type') {
        this.#report.failure('finish', error, 'Tasks could not be finished; trying again')
        this.#finishing.unshift(...runs)
        this.#failures += 1
        await this.#patience.pause(backoffDelay(this.#failures, kind === 'type' ? MENDING_WAIT : RETRY_WAIT))
      } else if (runs.length > 1) {
        // One row may be the one that can't be finished: the others shall not suffer for it.
        const middle = Math.ceil(runs.length / 2)
        await this.#finishBatch(runs.slice(0, middle))
        await this.#finishBatch(runs.slice(middle))
      } else if (first !== undefined) {
        this.#report.failure('finish', error, 'A task could not be finished')
        if (kind === 'moment') this.#finishLater(first)
        else void this.#settleAlone(first, { kind: 'retry', error, reason: 'error', options: {} })
      }
    }
  }

  #sortOut(runs: readonly ActiveRun[], unfinished: readonly UnfinishedRun[]): void {
    const outcomes = new Map(unfinished.map(({ id, outcome }) => [id, outcome]))
    for (const run of runs) {
      const outcome = outcomes.get(run.id)
      if (outcome === 'locked') {
        this.#finishLater(run)
        continue
      }
      // "finished": by this token, in an attempt whose answer was lost.
      const finished = outcome === undefined || outcome === 'finished'
      if (finished || (outcome === 'missing' && this.#type().storageMs === 0)) this.#report.finished(run)
      else this.#report.lost(run, outcome)
      this.#done(run)
    }
  }

  #finishLater(run: ActiveRun): void {
    run.failures += 1
    void this.#orAbandoned(async () => {
      await this.#patience.pause(backoffDelay(run.failures, RETRY_WAIT))
      this.#finishing.push(run)
      this.#flush()
    })
  }

  /** Which of the runs that their handler settled are still running: nothing was committed for those. */
  async #look(looks: readonly Look[]): Promise<void> {
    const runs = looks.map(({ run }) => run)
    const { settling, workerId } = this.#context
    const { gone } = await this.#patience.untilWritten(() => heartbeat(settling, this.#type(), workerId, runs))
    const found = new Map(gone.map(({ id, reason }) => [id, reason]))
    const undone = await this.#undoneRetries(runs.filter((run) => mayBeRetried(run, found.get(run.id))))
    for (const { run, otherwise, refused } of looks) {
      const reason = found.get(run.id)
      if (reason === undefined && !refused) {
        void this.#settleAlone(run, otherwise)
        continue
      }
      if (undone.has(run)) this.#report.lost(run, reason ?? 'stale')
      else this.#report.found(run, reason ?? 'stale', otherwise)
      this.#done(run)
    }
  }

  /** A retry takes the token away, so that the task does not show whether it is this run's or somebody else has it since. */
  async #undoneRetries(runs: readonly ActiveRun[]): Promise<ReadonlySet<ActiveRun>> {
    const asked = runs.flatMap(({ settled }) => settled?.retried?.transactionId ?? [])
    if (asked.length === 0) return new Set(runs)
    const committed = await this.#patience.untilWritten(() => committedTransactions(this.#context.settling, asked))
    return new Set(runs.filter(({ settled }) => !committed.has(settled?.retried?.transactionId ?? '')))
  }

  async #settleAlone(run: ActiveRun, outcome: SingleOutcome): Promise<void> {
    await this.#orAbandoned(async () => {
      try {
        const written = await this.#patience.untilWritten((failure) => {
          return writeOutcome(this.#context.settling, this.#type(), run, outcome, failure)
        })
        this.#report.written(run, outcome, written)
      } catch (error) {
        if (!isOutcomeRefused(error)) throw error
        // Its own transaction was committed meanwhile, or in SQL; or this was written and the answer lost; or it is another's.
        this.#looking.push({ run, otherwise: outcome, refused: true })
        this.#lookSoon()
        return
      }
      this.#done(run)
    })
  }

  /** Nothing is thrown further: what was abandoned, the leases bring back. */
  async #orAbandoned(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof WorkerStoppingError) return
      this.#context.logger.error(
        { ...typeReference(this.#type()), error: describeThrown(error) },
        'An outcome could not be written; the lease brings the task back',
      )
    }
  }

  #done(run: ActiveRun): void {
    this.#unsettled -= 1
    this.#onSettled(run)
    if (this.#unsettled === 0) this.#onDrained()
  }
}

function mayBeRetried({ settled }: ActiveRun, found: GoneReason | undefined): boolean {
  return settled?.verb === 'retry' && found !== undefined && isOwnDoing(settled, found)
}

function inTheTurnAfterNext(work: () => void): void {
  setImmediate(() => setImmediate(work))
}
