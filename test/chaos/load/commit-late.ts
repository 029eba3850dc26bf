import { inTransaction } from '@pg-tasks/client'
import type { ChaosTask } from '../workers/chaos-task.js'
import { type Loader, pause } from './loader.js'
import { drawTask } from './new-task.js'
import type { ChaosType } from './task-types.js'

/** Enough tasks to keep a worker busy for a moment. */
const BURST = 30

let bursts = 0

/** A burst, in the midst of which somebody enqueues who commits when all is quiet again; and then silence. */
export async function commitLate(loader: Loader, type: ChaosType): Promise<void> {
  const { history, pool, random, signal } = loader
  const { table } = type
  const task = loader.tasks.get(table) as ChaosTask
  while (!signal.aborted) {
    bursts += 1
    const burst = Array.from({ length: BURST }, (_, at) => drawTask(random, type, `${table} burst ${bursts} ${at}`))
    const late = { ...drawTask(random, type, `${table} late ${bursts}`), planned_to: new Date() }
    for (const [tasks, afterMs] of [
      [burst, 0],
      [[late], 3_000],
    ] as const) {
      const about = { table, refs: tasks.map(({ ref }) => ref) }
      history.write('enqueue_asked', about)
      const ids = await inTransaction(pool, async (transaction) => {
        const made = await task.enqueueMany(transaction, tasks)
        await pause(loader, afterMs)
        return made
      })
      history.write('enqueue_ended', { ...about, ids, outcome: 'acknowledged' })
      if (afterMs === 0) await pause(loader, 200)
    }
    await pause(loader, 9_000)
  }
}
