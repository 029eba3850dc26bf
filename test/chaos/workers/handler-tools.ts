import {
  type Claimed,
  inTransaction,
  type Task,
  type TaskContext,
  TaskNotFoundError,
  TaskNotRunningError,
} from '@pg-tasks/client'
import type { PoolClient } from 'pg'
import type { HistoryWriter } from '../history.js'
import type { CallOutcome, RunKey } from '../history-events.js'
import type { PrimaryPool } from '../load/primary-pool.js'
import type { Own } from '../load/task-types.js'

/** What handlers share. */
export class HandlerTools {
  readonly history: HistoryWriter
  readonly pool: PrimaryPool
  /** Null for whoever acquires without a worker. */
  readonly workerId: string | null
  #blockMs = 0

  constructor(history: HistoryWriter, pool: PrimaryPool, workerId: string | null) {
    this.history = history
    this.pool = pool
    this.workerId = workerId
  }

  keyOf(self: Task<Own>, task: Claimed<Own>): RunKey {
    return {
      table: self.options.table,
      id: task.id,
      token: task.run_token,
      attempt: task.execution_count,
      generation: task.generation,
    }
  }

  /** The next handler blocks the event loop for so long. */
  askToBlock(ms: number): void {
    this.#blockMs = ms
  }

  blockIfAsked(): void {
    const ms = this.#blockMs
    if (ms === 0) return
    this.#blockMs = 0
    this.history.write('blocked', { ms })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  }

  /**
   * The effect of a task, in the transaction that finishes it.
   *
   * @param around - what else belongs to the transaction
   */
  async finishWithEffect(self: Task<Own>, task: Claimed<Own>, around: AroundFinish = {}): Promise<void> {
    const run = this.keyOf(self, task)
    this.history.write('effect_asked', run)
    try {
      await inTransaction(this.pool, async (transaction) => {
        await around.before?.(transaction)
        await this.writeEffect(transaction, 'finish', run)
        await self.finish(transaction, task)
        await around.after?.(transaction)
      })
      this.history.write('effect_ended', { ...run, outcome: 'acknowledged' })
    } catch (error) {
      this.history.write('effect_ended', { ...run, outcome: outcomeOf(error), error: String(error) })
      throw error
    }
  }

  async writeEffect(
    transaction: Pick<PoolClient, 'query'> | TaskContext['tx'],
    what: string,
    run: RunKey,
  ): Promise<void> {
    await transaction.query(
      'insert into chaos.effects (what, table_name, task_id, generation, token, attempt) values ($1, $2, $3, $4, $5, $6)',
      [what, run.table, run.id, run.generation, run.token, run.attempt],
    )
  }
}

/** What a finishing transaction does besides. */
export interface AroundFinish {
  readonly before?: (transaction: PoolClient) => Promise<unknown>
  readonly after?: (transaction: PoolClient) => Promise<unknown>
}

/** Thrown by a handler on purpose. */
export class PlannedError extends Error {
  override readonly name = 'PlannedError'
}

/** Only what was refused, or thrown on purpose before COMMIT, is known not to be there. */
export function outcomeOf(error: unknown): CallOutcome {
  const refused =
    error instanceof TaskNotRunningError || error instanceof TaskNotFoundError || error instanceof PlannedError
  return refused ? 'refused' : 'unknown'
}
