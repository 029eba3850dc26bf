import { inTransaction, type NewTask } from '@pg-tasks/client'
import type { ChaosTask } from '../workers/chaos-task.js'
import { type Loader, pause } from './loader.js'
import { drawTask } from './new-task.js'
import type { ChaosType, Own } from './task-types.js'

/** Enough tasks to keep a worker busy for a moment. */
const BURST = 30

let bursts = 0

/** A burst, in the midst of which somebody enqueues who commits when all is quiet again; and then silence. */
export async function commitLate(loader: Loader, type: ChaosType): Promise<void> {
  const { random, signal } = loader
  while (!signal.aborted) {
    bursts += 1
    const draw = (what: string) => ({ ...drawTask(random, type, `${type.table} ${what}`), planned_to: new Date() })
    const burst = Array.from({ length: BURST }, (_, at) => draw(`burst ${bursts} ${at}`))
    await enqueueTogether(loader, type, burst, 0)
    await pause(loader, 200)
    // Workers look once more when their lease is no longer needed, a heartbeat after the last task.
    await enqueueTogether(loader, type, [draw(`late ${bursts}`)], random.integer(3_000, 4_500))
    await pause(loader, random.integer(4_000, 9_000))
  }
}

async function enqueueTogether(
  loader: Loader,
  { table }: ChaosType,
  tasks: ReadonlyArray<NewTask<Own>>,
  commitAfterMs: number,
): Promise<void> {
  const { history, pool } = loader
  const task = loader.tasks.get(table) as ChaosTask
  const about = { table, refs: tasks.map(({ ref }) => ref) }
  history.write('enqueue_asked', about)
  try {
    const ids = await inTransaction(pool, async (transaction) => {
      const made = await task.enqueueMany(transaction, tasks)
      await pause(loader, commitAfterMs)
      return made
    })
    history.write('enqueue_ended', { ...about, ids, outcome: 'acknowledged' })
  } catch {
    history.write('enqueue_ended', { ...about, ids: [], outcome: 'unknown' })
  }
}
