import { type Connection, listTasks, type Queryable, type TaskState, type TypeDescription } from '@pg-tasks/sql'
import type { TaskLogger } from '../logger/logger.js'
import type { MiddlewareChain } from '../middleware/middleware-chain.js'
import { runsOf } from '../task/held-runs.js'
import type { Task } from '../task/task.js'
import type { ActiveRun } from '../worker/run/active-run.js'
import type { Steps } from '../worker/run/steps.js'
import { type HandlerEnd, outcomeOf } from '../worker/settle/outcome.js'
import { writeOutcome } from '../worker/settle/write-outcome.js'

/** SQLSTATE of a statement in a transaction that has failed. */
const IN_FAILED_TRANSACTION = '25P02'

/** What the runs of one type share. */
export interface RunParts {
  readonly queryable: Queryable
  readonly connection: Connection
  readonly task: Task<object>
  readonly type: TypeDescription
  readonly chain: MiddlewareChain
  readonly steps: Steps
  readonly logger: TaskLogger
}

/** Calls a handler and settles its task on the same connection. */
export async function runInline(
  parts: RunParts,
  run: ActiveRun,
): Promise<{ readonly state: TaskState | undefined; readonly error: unknown }> {
  const { task, queryable } = parts
  if (task.options.settle === 'one_transaction') run.transaction = queryable
  runsOf(task).set(run.id, run)
  const end = await callInline(parts, run)
  const error = end.threw ? end.error : undefined
  try {
    await settle(parts, run, end)
    return { state: await stateOf(parts, run.id), error }
  } catch (failure) {
    // The handler's own error has spoilt the transaction, and says more.
    if (error !== undefined && Reflect.get(failure as object, 'code') === IN_FAILED_TRANSACTION) throw error
    throw failure
  } finally {
    runsOf(task).delete(run.id)
  }
}

async function callInline({ task, type, chain }: RunParts, run: ActiveRun): Promise<HandlerEnd> {
  try {
    await chain.around(type, run.row, run, () => task.run(run.row, run))
    return { threw: false }
  } catch (error) {
    return { threw: true, error }
  }
}

async function settle({ task, type, queryable, connection }: RunParts, run: ActiveRun, end: HandlerEnd): Promise<void> {
  const outcome = outcomeOf(run, end, task.options.autoFinish)
  switch (outcome.kind) {
    case 'finish':
      await task.finish(connection, run.row)
      return
    case 'look': {
      const [found] = await listTasks(queryable, task.options, { ids: [run.id] })
      if (found?.state !== 'running' || found.row.run_token !== run.token) return
      await writeOutcome(queryable, type, run, outcome.otherwise, undefined)
      return
    }
    default:
      await writeOutcome(queryable, type, run, outcome, undefined)
  }
}

async function stateOf({ queryable, task }: RunParts, id: string): Promise<TaskState | undefined> {
  const [found] = await listTasks(queryable, task.options, { ids: [id] })
  return found?.state
}
