import { setTimeout as delay } from 'node:timers/promises'
import type { ChaosTask } from '../workers/chaos-task.js'
import type { HandlerTools } from '../workers/handler-tools.js'
import { type Loader, pause } from './loader.js'

/** Somebody who acquires without a Worker, as a script does: most tasks are finished, some are forgotten. */
export async function borrow(loader: Loader, tools: HandlerTools): Promise<void> {
  const { random, pool, history } = loader
  const task = loader.tasks.get('plain') as ChaosTask
  while (!loader.signal.aborted) {
    await pause(loader, random.gap(1_500))
    if (loader.signal.aborted) return
    try {
      const claimed = await pool.use((client) => task.acquire(client, random.integer(1, 3)))
      for (const one of claimed) {
        const run = tools.keyOf(task, one)
        history.write('run_started', { ...run, kind: 'borrowed', workerId: null })
        await delay(random.integer(0, 500))
        if (random.chance(0.7)) await tools.finishWithEffect(task, one)
        history.write('run_ended', run)
      }
    } catch {
      // Noted where it happened; the leases bring back what is left.
    }
  }
}
