import { runChannel } from '../../events/channels.js'
import type { Task } from '../../task/task.js'
import { type TypeContext, taskReference } from '../type/type-context.js'
import type { ActiveRun } from './active-run.js'

/** Calls a run's handler, the worker's middleware around it. */
export function runHandler(
  { middleware, workerId }: Pick<TypeContext, 'middleware' | 'workerId'>,
  type: { readonly schema: string; readonly table: string },
  task: Task<object>,
  run: ActiveRun,
): unknown {
  const call = (): unknown => middleware.around(type, run.row, run, () => task.run(run.row, run))
  if (!runChannel.hasSubscribers) return call()
  return runChannel.tracePromise(async () => call(), { workerId, ...taskReference(type, run) })
}
