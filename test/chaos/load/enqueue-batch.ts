import { createGroup, type NewTask } from '@pg-tasks/client'
import type { PoolClient } from 'pg'
import type { ChaosTask } from '../workers/chaos-task.js'
import type { Loader } from './loader.js'
import type { ChaosType, Own } from './task-types.js'

let groups = 0

/** For types whose tasks are members: a group of the transaction's own. */
export async function openGroup(
  { tasks }: Loader,
  transaction: PoolClient,
  { callback }: ChaosType,
): Promise<string | undefined> {
  if (callback === undefined) return undefined
  groups += 1
  const key = `group ${groups}`
  const callbackTask = { ref: key, kind: 'return', generation: 0, work_ms: 0, fails: 0, account: key } as const
  await createGroup(transaction, key, tasks.get(callback) as ChaosTask, callbackTask)
  return key
}

/** Enqueues as the type says: into a group, uniquely, or just so. Tells which of them are there. */
export async function enqueueBatch(
  { tasks, random }: Loader,
  transaction: PoolClient,
  { table, unique }: ChaosType,
  batch: ReadonlyArray<NewTask<Own>>,
  group: string | undefined,
): Promise<Array<{ readonly ref: string; readonly id: string }>> {
  const task = tasks.get(table) as ChaosTask
  if (unique) {
    const onConflict = random.pick(['ignore', 'postpone', 'advance'] as const)
    const outcomes = await task.enqueueUnique(transaction, batch, { onConflict })
    return outcomes.flatMap(({ id, outcome }, at) =>
      outcome === 'enqueued' ? [{ ref: batch[at]?.ref ?? '', id }] : [],
    )
  }
  const members = group === undefined ? batch : batch.map((one) => ({ ...one, account: group, group_key: group }))
  const ids = await task.enqueueMany(transaction, members)
  return ids.map((id, at) => ({ ref: batch[at]?.ref ?? '', id }))
}
