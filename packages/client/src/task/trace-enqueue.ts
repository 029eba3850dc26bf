import { type EnqueueMessage, enqueueChannel } from '../events/channels.js'

/** Enqueues tasks, and tells the subscribers of `pg-tasks:enqueue`, if there are any; they may give other columns. */
export function traceEnqueue<Row, Result>(
  { schema, table }: { readonly schema: string; readonly table: string },
  tasks: readonly Row[],
  enqueue: (tasks: readonly Row[]) => Promise<Result>,
): Promise<Result> {
  if (!enqueueChannel.hasSubscribers) return enqueue(tasks)
  const message: EnqueueMessage = { schema, table, tasks: tasks as EnqueueMessage['tasks'] }
  return enqueueChannel.tracePromise(async () => enqueue(message.tasks as readonly Row[]), message)
}
