import { startTimer } from '../timers/start-timer.js'
import type { ActiveRun } from './active-run.js'

/** A handler went on although its signal was aborted: nobody waits for it any longer. */
export class AbandonedError extends Error {}

/** Waits for a run's handler; once its signal is aborted, no longer than the grace. */
export function untilAbandoned<Value>(run: ActiveRun, graceMs: number, handler: () => Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const { signal } = run
    let cancelTimer = (): void => {}
    const onAbort = (): void => {
      cancelTimer = startTimer(graceMs, () =>
        reject(new AbandonedError('The handler went on', { cause: signal.reason })),
      )
    }
    const tidy = (): void => {
      signal.removeEventListener('abort', onAbort)
      cancelTimer()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    // In a promise of its own: a handler may throw before it gives one.
    void (async () => handler())().then(resolve, reject).finally(tidy)
  })
}
