import { inTransaction } from '@pg-tasks/client'
import type { CallOutcome } from '../history-events.js'
import { enqueueBatch, openGroup } from './enqueue-batch.js'
import { type Loader, pause, remember } from './loader.js'
import { drawTask, drawType } from './new-task.js'
import type { ChaosType } from './task-types.js'

let refs = 0

/** Thrown to roll a transaction back. */
class RollBack extends Error {}

/** Enqueues a few tasks per statement, each in a transaction of its own. */
export async function enqueueShortly(loader: Loader, mayEnqueue: () => boolean): Promise<void> {
  while (!loader.signal.aborted) {
    await pause(loader, loader.random.integer(0, loader.options.pauseMs))
    if (loader.signal.aborted || !mayEnqueue()) continue
    const type = drawType(loader.random, loader.types)
    await enqueue(loader, type, [loader.random.integer(1, 4)], { pauseMs: 0, rollBack: false })
  }
}

/** Enqueues in transactions that stay open for a while; some are rolled back in the end. */
export async function enqueueSlowly(loader: Loader, mayEnqueue: () => boolean): Promise<void> {
  const { random } = loader
  while (!loader.signal.aborted) {
    await pause(loader, random.integer(0, loader.options.pauseMs))
    if (loader.signal.aborted || !mayEnqueue()) continue
    const parts = Array.from({ length: random.integer(1, 3) }, () => random.integer(1, 3))
    const rollBack = random.chance(0.25)
    await enqueue(loader, drawType(random, loader.types), parts, { pauseMs: random.integer(0, 1_000), rollBack })
  }
}

interface EnqueueHabits {
  /** After each statement. */
  readonly pauseMs: number
  readonly rollBack: boolean
}

async function enqueue(
  loader: Loader,
  type: ChaosType,
  parts: readonly number[],
  habits: EnqueueHabits,
): Promise<void> {
  const { history, pool, random } = loader
  const { table } = type
  const task = loader.tasks.get(table)
  if (task === undefined) return
  const batches = parts.map((size) => Array.from({ length: size }, () => drawTask(random, type, `${table} ${++refs}`)))
  const about = { table, refs: batches.flat().map(({ ref }) => ref) }
  history.write('enqueue_asked', about)
  const made: Array<{ readonly ref: string; readonly id: string }> = []
  try {
    await inTransaction(pool, async (transaction) => {
      const group = await openGroup(loader, transaction, type)
      for (const batch of batches) {
        made.push(...(await enqueueBatch(loader, transaction, type, batch, group)))
        await pause(loader, habits.pauseMs)
      }
      if (habits.rollBack) throw new RollBack()
    })
    const ids = made.map(({ id }) => id)
    // Of unique tasks, those that were not ignored.
    history.write('enqueue_ended', { table, refs: made.map(({ ref }) => ref), ids, outcome: 'acknowledged' })
    remember(loader, table, ids)
  } catch (error) {
    const outcome: CallOutcome | 'rolled_back' = error instanceof RollBack ? 'rolled_back' : 'unknown'
    history.write('enqueue_ended', { ...about, ids: [], outcome })
  }
}
